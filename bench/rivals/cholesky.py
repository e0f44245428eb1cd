"""One Cholesky factorisation in double precision, the unit in which exact kernel methods are counted.

    cholesky.py SIZE
"""
import json
import sys
import time

import numpy
from scipy.linalg import lapack

size = int(sys.argv[1])
matrix = numpy.full((size, size), 0.5, order="F")
matrix[numpy.diag_indices(size)] = 2
start = time.perf_counter(), time.process_time()
_, info = lapack.dpotrf(matrix, overwrite_a=True)
print(json.dumps({"seconds": time.perf_counter() - start[0], "cpu_seconds": time.process_time() - start[1]}))
sys.exit(info)
