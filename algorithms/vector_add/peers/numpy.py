# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""NumPy: one thread, one pass over memory, no temporary."""

import numpy as np

from backends.python.peer import HostPeer


class Add(HostPeer):
    method = "library"
    description = "numpy.add into a separate array"
    dtypes = ("f32", "f64", "i32")
    only = (("memory", "device"),)

    def upload(self):
        self.a, self.b = self.inputs["a"].copy(), self.inputs["b"].copy()
        self.sum = np.empty_like(self.a)

    def reset(self):
        self.sum.view(np.uint8).fill(0xFF)

    def compute(self):
        np.add(self.a, self.b, out=self.sum)

    def download(self):
        return {"sum": self.sum}
