"""Java's PriorityQueue, where clients can see which of several equal elements comes first.

A broker picks the least loaded process, and member of it, for each task of a streams group with
such queues; among those that are loaded alike the shape of the heap decides. `heapq` keeps another
shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class JavaQueue(Generic[T]):
    """Elements by a number, smallest first. The number of one that is in the queue must not
    change."""

    def __init__(self, elements: Iterable[T], number: Callable[[T], float]) -> None:
        self._heap: list[T] = []
        self._number = number
        for each in elements:
            self.add(each)

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, element: T) -> None:
        heap, number = self._heap, self._number(element)
        at = len(heap)
        heap.append(element)
        while at > 0:
            parent = (at - 1) // 2
            if number >= self._number(heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = element

    def take(self) -> T:
        """Remove the first element; the last one moves down from its place. Raises IndexError if
        there is none."""
        heap = self._heap
        last = heap.pop()
        if not heap:
            return last
        first, at, number = heap[0], 0, self._number(last)
        while at < len(heap) // 2:
            child = 2 * at + 1
            right = child + 1
            if right < len(heap) and self._number(heap[child]) > self._number(heap[right]):
                child = right
            if number <= self._number(heap[child]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = last
        return first
