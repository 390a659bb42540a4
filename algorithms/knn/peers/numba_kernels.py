# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numba kernels for k-NN: packing, search, and the vote."""

import math

from numba import cuda, float32, float64, int32, int64

TILE = 16  # queries, training rows and features of a block's tile


@cuda.jit
def pack(rows, shift, values, half):
    """A thread takes a row: values - shift in f32, and half the norm."""
    row = cuda.grid(1)
    if row >= rows.shape[0]:
        return
    norm = float32(0)
    for f in range(rows.shape[1]):
        value = float32(rows[row, f]) - float32(shift)
        values[row, f] = value
        norm += value * value
    half[row] = norm / float32(2)


def search_of(k):
    """A block takes 16 queries and loops over the training rows; a thread computes one product per tile,
    and the first 16 threads update one query's list each. Ties: the earlier row comes first."""

    @cuda.jit
    def search(train, test, half, found):
        x = cuda.shared.array((TILE, TILE + 1), float32)
        y = cuda.shared.array((TILE, TILE + 1), float32)
        products = cuda.shared.array((TILE, TILE + 1), float32)
        best = cuda.local.array(k, float64)
        rows = cuda.local.array(k, int64)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        begin, features = cuda.blockIdx.x * TILE, train.shape[1]
        for n in range(k):
            best[n], rows[n] = math.inf, 0
        for first in range(0, train.shape[0], TILE):
            total = float32(0)
            for f in range(0, features, TILE):
                x[i, j] = y[i, j] = float32(0)
                if f + j < features and begin + i < test.shape[0]:
                    x[i, j] = test[begin + i, f + j]
                if f + j < features and first + i < train.shape[0]:
                    y[i, j] = train[first + i, f + j]
                cuda.syncthreads()
                for step in range(TILE):
                    total += x[i, step] * y[j, step]
                cuda.syncthreads()
            products[i, j] = total
            cuda.syncthreads()
            if i == 0:
                for n in range(min(TILE, train.shape[0] - first)):
                    key = float64(half[first + n]) - float64(products[j, n])
                    at = k
                    while at > 0 and best[at - 1] > key:
                        if at < k:
                            best[at], rows[at] = best[at - 1], rows[at - 1]
                        at -= 1
                    if at < k:
                        best[at], rows[at] = key, first + n
            cuda.syncthreads()
        if i == 0 and begin + j < test.shape[0]:
            for n in range(k):
                found[begin + j, n] = rows[n]

    return search


@cuda.jit(device=True)
def vote_at(rule, distances, query, n):
    """Weight of neighbour n: rules 0 `eps`, 1 `inverse`, 2 `uniform`."""
    distance = distances[query, n]
    if rule == 0:
        return 1.0 / (distance + 1e-5)
    if rule == 1:
        if distances[query, 0] > 0.0:
            return 1.0 / distance
        return 1.0 if distance == 0.0 else 0.0
    return 1.0


@cuda.jit
def finish(train, labels, test, rule, found, distances, winners):
    """A thread takes a query: distances in double, sorted, ties to the lower index; then the vote."""
    query = cuda.grid(1)
    if query >= test.shape[0]:
        return
    k = found.shape[1]
    for n in range(k):
        row, squared = found[query, n], 0.0
        for f in range(train.shape[1]):
            difference = float64(train[row, f]) - float64(test[query, f])
            squared += difference * difference
        distance, at = math.sqrt(squared), n
        while at > 0 and (
            distances[query, at - 1] > distance
            or (distances[query, at - 1] == distance and found[query, at - 1] > row)
        ):
            distances[query, at] = distances[query, at - 1]
            found[query, at] = found[query, at - 1]
            at -= 1
        distances[query, at], found[query, at] = distance, row
    max_votes, winner = -1.0, int32(0)
    for n in range(k):
        label, votes = labels[found[query, n]], 0.0
        for other in range(k):
            if labels[found[query, other]] == label:
                votes += vote_at(rule, distances, query, other)
        if votes > max_votes or (votes == max_votes and label < winner):
            max_votes, winner = votes, label
    winners[query] = winner
