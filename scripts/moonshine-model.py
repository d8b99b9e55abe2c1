#!/usr/bin/env python3
"""Converts Moonshine base, as the makers' PyPI package has it for ONNX Runtime, into a model for sherpa-onnx.

    pip install numpy==2.4.6 onnx==1.23.2 onnx-ir onnxruntime==1.32.0
    pip download --no-deps --only-binary=:all: --platform manylinux2014_x86_64 moonshine-cpp==0.1.4
    python3 scripts/moonshine-model.py moonshine_cpp-0.1.4-py3-none-manylinux2014_x86_64.whl TARGET_DIR

TARGET_DIR is what `npm run -s admin -- speech-model add` takes as an archive. The package's weights are integers that become
floats for every token, which takes ten times as long; here the layers multiply integers, as those of the bundled model do.
"""
import base64
import hashlib
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.InferenceSession import InferenceSession
from onnxruntime.tools.ort_format_model.ort_flatbuffers_py.fbs.TensorTypeAndShape import TensorTypeAndShape

SHA256 = 'f7afc662bdd3ef98815ee3b940438b456e77d5a77cea5396ed9c572785412ebd'
GRAPH = onnx.AttributeProto.GRAPH
# The numbers of a constant that is not worth computing.
SMALL = 1024
FOLDED = {
    'Cast': lambda node, x: x.astype(helper.tensor_dtype_to_np_dtype(node.attribute[0].i)),
    'Mul': lambda _, x, y: x * y,
    'Add': lambda _, x, y: x + y,
    'Transpose': lambda node, x: np.ascontiguousarray(x.transpose(node.attribute[0].ints if node.attribute else None)),
}


def many(owner, name):
    return [getattr(owner, name)(at) for at in range(getattr(owner, f'{name}Length')())]


def names(owner, name):
    return [each.decode() for each in many(owner, name)]


def tensor(stored):
    kind = helper.tensor_dtype_to_np_dtype(stored.DataType())
    values = np.frombuffer(stored.RawDataAsNumpy().tobytes(), kind).reshape([stored.Dims(at) for at in range(stored.DimsLength())])
    return numpy_helper.from_array(values, stored.Name().decode())


def attribute(stored):
    name, kind = stored.Name().decode(), stored.Type()
    if kind == GRAPH:
        return helper.make_attribute(name, graph(stored.G(), name))
    read = {
        onnx.AttributeProto.FLOAT: stored.F,
        onnx.AttributeProto.INT: stored.I,
        onnx.AttributeProto.STRING: lambda: stored.S().decode(),
        onnx.AttributeProto.TENSOR: lambda: tensor(stored.T()),
        onnx.AttributeProto.FLOATS: lambda: many(stored, 'Floats'),
        onnx.AttributeProto.INTS: lambda: many(stored, 'Ints'),
    }
    return helper.make_attribute(name, read[kind](), attr_type=kind)


def taken_from_outside(inner):
    own = {name for node in inner.node for name in node.output}
    return {name for node in inner.node for name in node.input} - own


def sorted_nodes(nodes, known):
    """Each after those that it depends on. What an outer graph makes is known within."""
    made = {output for node in nodes for output in node.output if output}
    ready, left, result = set(known), nodes, []
    while left:
        later = []
        for node in left:
            inner = [name for each in node.attribute if each.type == GRAPH for name in taken_from_outside(each.g)]
            if all(name in ready or name not in made for name in [*node.input, *inner]):
                result.append(node)
                ready.update(node.output)
            else:
                later.append(node)
        if len(later) == len(left):
            raise ValueError('The graph has a circle.')
        left = later
    return result


def graph(stored, name):
    nodes = []
    for each in many(stored, 'Nodes'):
        node = helper.make_node(each.OpType().decode(), names(each, 'Inputs'), names(each, 'Outputs'), each.Name().decode())
        node.domain = (each.Domain() or b'').decode()
        node.attribute.extend(attribute(one) for one in many(each, 'Attributes'))
        nodes.append(node)
    weights = [tensor(each) for each in many(stored, 'Initializers')]
    types = {each.Name().decode(): each for each in many(stored, 'NodeArgs')}
    values = lambda which: [value(types[each]) for each in names(stored, which)]
    stored_names = {each.name for each in weights}
    inputs = [each for each in values('Inputs') if each.name not in stored_names]
    return helper.make_graph(sorted_nodes(nodes, stored_names), name, inputs, values('Outputs'), weights)


def value(stored):
    info = stored.Type()
    typed = TensorTypeAndShape()
    typed.Init(info.Value().Bytes, info.Value().Pos)
    shape = None
    if typed.Shape() is not None:
        dimensions = [each.Value() for each in many(typed.Shape(), 'Dim')]
        shape = [each.DimParam().decode() if each.DimParam() else each.DimValue() for each in dimensions]
    return helper.make_tensor_value_info(stored.Name().decode(), typed.ElemType(), shape)


def fold_weights(found, constants):
    """Computes what is made of weights alone, so that each layer has its weights as floats again. Branches share them."""
    rest = []
    for node in found.node:
        for each in node.attribute:
            if each.type == GRAPH:
                fold_weights(each.g, constants)
        given = [constants.get(name) for name in node.input]
        if node.op_type in FOLDED and all(each is not None for each in given) and max(each.size for each in given) > SMALL:
            constants[node.output[0]] = FOLDED[node.op_type](node, *given)
        else:
            rest.append(node)
    del found.node[:]
    found.node.extend(rest)


def names_in(found):
    for node in found.node:
        yield from node.input
        for each in node.attribute:
            if each.type == GRAPH:
                yield from names_in(each.g)


def fold(found):
    constants = {each.name: numpy_helper.to_array(each) for each in found.initializer}
    fold_weights(found, constants)
    used = set(names_in(found))
    del found.initializer[:]
    found.initializer.extend(numpy_helper.from_array(each, name) for name, each in constants.items() if name in used)


def convert(stored, target):
    """`stored`: the bytes of a model in ONNX Runtime's format."""
    model = InferenceSession.GetRootAsInferenceSession(stored, 0).Model()
    opsets = [helper.make_opsetid((each.Domain() or b'').decode(), each.Version()) for each in many(model, 'OpsetImport')]
    floats = helper.make_model(graph(model.Graph(), target.stem), opset_imports=opsets, ir_version=model.IrVersion())
    fold(floats.graph)
    with tempfile.TemporaryDirectory() as directory:
        whole = Path(directory, 'whole.onnx')
        onnx.save(floats, whole)
        quantize_dynamic(whole, target, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=['MatMul', 'Gather'],
                         extra_options={'EnableSubgraph': True, 'MatMulConstBOnly': True})


def tokens(stored):
    """Each is its length, of 7 bits a byte, and its bytes; "▁" is a space."""
    at = 0
    while at < len(stored):
        length, at = stored[at], at + 1
        if length > 127:
            length, at = length - 128 + 128 * stored[at], at + 1
        yield stored[at:at + length].replace('▁'.encode(), b' ')
        at += length


def main(wheel, target):
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SHA256:
        sys.exit(f'{wheel} is not the package that was expected.')
    target.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as package:
        files = {Path(name).name: name for name in package.namelist() if '/models/base-en/' in name}
        for name in ('encoder_model', 'decoder_model_merged'):
            convert(package.read(files[f'{name}.ort']), target / f'{name}.int8.onnx')
        lines = [f'{base64.b64encode(token).decode()} {number}\n' for number, token in enumerate(tokens(package.read(files['tokenizer.bin'])))]
    (target / 'tokens.txt').write_text(''.join(lines))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
