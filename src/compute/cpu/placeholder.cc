namespace kweave {}
