# Installs the library, its headers, the program and the package files that find_package(kweave) reads.
