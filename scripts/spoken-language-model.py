#!/usr/bin/env python3
"""Makes the spoken-language model in services/transcription/models/spoken-language from the weights of Whisper base.

    pip install numpy==2.4.6 onnx==1.23.2 onnx-ir onnxruntime==1.32.0
    python3 scripts/spoken-language-model.py MODEL_DIR TARGET_DIR

MODEL_DIR holds Whisper base as CTranslate2 stores it (model.bin, config.json, tokenizer.json); scripts/speech-servers.sh
fetches it. The result is what sherpa-onnx loads as a Moonshine model: an encoder of samples, as sherpa's own features of Whisper
take a third of the time, and a decoder of which nothing is kept but the step that names the language. The only token of its text
is the likeliest language with the first digit of its probability and of the one of English: "de 6 1".
"""
import base64
import json
import struct
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

LAYERS, HEADS, WIDTH, MELS = 6, 8, 512, 80
START_OF_TRANSCRIPT = 50258
ENGLISH = 50259
LEVELS = 10
# Of a window of 25 ms every 10 ms.
RATE, WINDOW, STEP = 16000, 400, 160
# The encoder hears half a second of silence after the speech.
SILENT_FRAMES = 50
# The numbers of sherpa-onnx's Moonshine for the beginning and the end of a text; those of the languages follow.
FIRST, END, TOKENS = 1, 2, 3
# Of each layer.
CROSS = [1, 2 * LAYERS, 'length', WIDTH]
# Without the languages of few speakers, which the model takes unclear speech for: an accent over a poor line for Latin or Welsh.
CODES = """en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt lv fa az kk
uz hy ka be tg mn et sr sk sl bn""".split()


def read_weights(path):
    """CTranslate2's format, version 6: names, shapes and raw numbers."""
    with open(path, 'rb') as file:
        unpack = lambda form: struct.unpack('<' + form, file.read(struct.calcsize('<' + form)))
        text = lambda: file.read(unpack('H')[0])[:-1].decode()
        unpack('I'), text(), unpack('I')
        types = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
        weights = {}
        for _ in range(unpack('I')[0]):
            name = text()
            shape = unpack('I' * unpack('B')[0])
            kind, size = types[unpack('B')[0]], unpack('I')[0]
            weights[name] = np.frombuffer(file.read(size), kind).reshape(shape).astype(np.float32)
        return weights


class Graph:
    def __init__(self, weights):
        self.weights = weights
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, values, kind=np.float32):
        self.count += 1
        self.constants.append(numpy_helper.from_array(np.asarray(values, kind), f'c{self.count}'))
        return f'c{self.count}'

    def add(self, operator, *inputs, outputs=1, to=None, **attributes):
        self.count += 1
        names = to or [f'n{self.count}_{index}' for index in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, **attributes))
        return names[0] if len(names) == 1 else names

    def linear(self, x, name, rows=slice(None)):
        weight = self.weights[f'{name}/weight'][rows]
        product = self.add('MatMul', x, self.constant(weight.T))
        return self.add('Add', product, self.constant(self.weights[f'{name}/bias'][rows]))

    def norm(self, x, name):
        gamma, beta = (self.constant(self.weights[f'{name}/layer_norm/{part}']) for part in ('gamma', 'beta'))
        return self.add('LayerNormalization', x, gamma, beta, axis=-1, epsilon=1e-5)

    def gelu(self, x):
        return self.add('Gelu', x)

    def heads(self, x):
        split = self.add('Reshape', x, self.constant([0, -1, HEADS, WIDTH // HEADS], np.int64))
        return self.add('Transpose', split, perm=[0, 2, 1, 3])

    def attention(self, q, k, v, mask=None):
        q, k, v = self.heads(q), self.heads(k), self.heads(v)
        scores = self.add('MatMul', q, self.add('Transpose', k, perm=[0, 1, 3, 2]))
        scaled = self.add('Mul', scores, self.constant((WIDTH // HEADS) ** -0.5))
        if mask is not None:
            scaled = self.add('Add', scaled, mask)
        mixed = self.add('MatMul', self.add('Softmax', scaled, axis=-1), v)
        return self.add('Reshape', self.add('Transpose', mixed, perm=[0, 2, 1, 3]), self.constant([0, -1, WIDTH], np.int64))

    def feed_forward(self, x, name):
        inner = self.gelu(self.linear(self.norm(x, name), f'{name}/linear_0'))
        return self.add('Add', x, self.linear(inner, f'{name}/linear_1'))

    def half(self, values):
        """Stored at half precision, which takes half the space."""
        self.count += 1
        name = f'h{self.count}'
        self.nodes.append(helper.make_node('Cast', [self.constant(values, np.float16)], [name], to=TensorProto.FLOAT))
        return name

    def integer(self, x):
        self.count += 1
        self.nodes.append(helper.make_node('Cast', [x], [f'i{self.count}'], to=TensorProto.INT64))
        return f'i{self.count}'

    def model(self, name, inputs, outputs):
        inputs, outputs = ([helper.make_tensor_value_info(*each) for each in part] for part in (inputs, outputs))
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid('', 20)], ir_version=9)


def mel_filters():
    """By Slaney's scale and norm, as librosa and Whisper have them."""
    width, corner, factor = 200 / 3, 1000, np.log(6.4) / 27
    mels = np.linspace(0, corner / width + np.log(RATE / 2 / corner) / factor, MELS + 2)
    edges = np.where(mels < corner / width, mels * width, corner * np.exp(factor * (mels - corner / width)))
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    rising = (bins - edges[:-2, None]) / np.diff(edges)[:-1, None]
    falling = (edges[2:, None] - bins) / np.diff(edges)[1:, None]
    return np.maximum(0, np.minimum(rising, falling)) * 2 / (edges[2:] - edges[:-2])[:, None]


def features(g):
    """Whisper's, with the sound mirrored at its ends as kaldi-native-fbank does."""
    part = lambda start, end, step: g.add('Slice', 'input_values', *(g.constant([each], np.int64) for each in (start, end, 1, step)))
    before, after = (WINDOW - STEP) // 2, WINDOW // 2
    sound = g.add('Concat', part(before - 1, -RATE**2, -1), 'input_values', part(-1, -after - 1, -1), axis=1)
    times = np.arange(WINDOW)
    angles = 2 * np.pi * np.outer(np.arange(WINDOW // 2 + 1), times) / WINDOW
    waves = np.concatenate([np.cos(angles), np.sin(angles)]) * (0.5 - 0.5 * np.cos(2 * np.pi * times / WINDOW))
    spectrum = g.add('Conv', g.add('Unsqueeze', sound, g.constant([1], np.int64)), g.constant(waves[:, None]), strides=[STEP])
    squares = g.add('Split', g.add('Mul', spectrum, spectrum), axis=1, num_outputs=2, outputs=2)
    mel = g.add('MatMul', g.constant(mel_filters()), g.add('Add', *squares))
    log = g.add('Mul', g.add('Log', g.add('Max', mel, g.constant(1e-10))), g.constant(1 / np.log(10)))
    loud = g.add('Max', log, g.add('Sub', g.add('ReduceMax', log), g.constant(8)))
    scaled = g.add('Mul', g.add('Add', loud, g.constant(4)), g.constant(1 / 4))
    return g.add('Pad', scaled, g.constant([0, 0, 0, 0, 0, SILENT_FRAMES], np.int64))


def encoder(weights):
    g = Graph(weights)
    x = features(g)
    for index, stride in ((1, 1), (2, 2)):
        kernel, bias = g.half(weights[f'encoder/conv{index}/weight']), g.constant(weights[f'encoder/conv{index}/bias'])
        x = g.gelu(g.add('Conv', x, kernel, bias, pads=[1, 1], strides=[stride]))
    x = g.add('Transpose', x, perm=[0, 2, 1])
    length = g.add('Gather', g.add('Shape', x), g.constant([1], np.int64))
    positions = g.add('Slice', g.half(weights['encoder/position_encodings/encodings']), g.constant([0], np.int64), length, g.constant([0], np.int64))
    x = g.add('Add', x, positions)
    for layer in range(LAYERS):
        name = f'encoder/layer_{layer}/self_attention'
        normed = g.norm(x, name)
        q, k, v = (g.linear(normed, f'{name}/linear_0', slice(part * WIDTH, (part + 1) * WIDTH)) for part in range(3))
        x = g.add('Add', x, g.linear(g.attention(q, k, v), f'{name}/linear_1'))
        x = g.feed_forward(x, f'encoder/layer_{layer}/ffn')
    x = g.norm(x, 'encoder')
    found = []
    for layer in range(LAYERS):
        name = f'decoder/layer_{layer}/attention/linear_1'
        for part in range(2):
            rows = g.linear(x, name, slice(part * WIDTH, (part + 1) * WIDTH))
            found.append(g.add('Unsqueeze', rows, g.constant([1], np.int64)))
    g.add('Concat', *found, axis=1, to=['keys_and_values'])
    return g.model('encoder', [('input_values', TensorProto.FLOAT, [1, 'samples'])], [('keys_and_values', TensorProto.FLOAT, CROSS)])


def decoder(weights, languages):
    """One token, so self-attention is no more than its values."""
    g = Graph(weights)
    first = weights['decoder/embeddings/weight'][START_OF_TRANSCRIPT] + weights['decoder/position_encodings/encodings'][0]
    x = g.constant(first[None, None])
    for layer in range(LAYERS):
        name = f'decoder/layer_{layer}/self_attention'
        values = g.linear(g.norm(x, name), f'{name}/linear_0', slice(2 * WIDTH, 3 * WIDTH))
        x = g.add('Add', x, g.linear(values, f'{name}/linear_1'))
        name = f'decoder/layer_{layer}/attention'
        q = g.linear(g.norm(x, name), f'{name}/linear_0')
        k, v = (g.add('Gather', 'keys_and_values', g.constant(2 * layer + part, np.int64), axis=1) for part in range(2))
        x = g.add('Add', x, g.linear(g.attention(q, k, v), f'{name}/linear_2'))
        x = g.feed_forward(x, f'decoder/layer_{layer}/ffn')
    embeddings = weights['decoder/projection/weight' if 'decoder/projection/weight' in weights else 'decoder/embeddings/weight']
    logits = g.add('MatMul', g.norm(x, 'decoder'), g.constant(embeddings[languages].T))
    probabilities = g.add('Softmax', logits, axis=-1, to=['probabilities'])
    # The token of the likeliest language, the level of its probability and the level of English: the only logit of 1.
    code = g.add('ArgMax', probabilities, axis=-1, keepdims=0)
    best = g.add('ReduceMax', probabilities, g.constant([-1], np.int64), keepdims=0)
    for probability in (best, g.add('Gather', probabilities, g.constant(languages.index(ENGLISH), np.int64), axis=-1)):
        level = g.add('Min', g.add('Floor', g.add('Mul', probability, g.constant(LEVELS))), g.constant(LEVELS - 1))
        code = g.add('Add', g.add('Mul', code, g.constant(LEVELS, np.int64)), g.integer(level))
    isFirst = g.add('Equal', 'input_ids', g.constant(FIRST, np.int64))
    token = g.add('Where', isFirst, g.add('Add', code, g.constant(TOKENS, np.int64)), g.constant(END, np.int64))
    g.add('OneHot', token, g.constant(TOKENS + LEVELS**2 * len(languages), np.int64), g.constant([0, 1]), axis=-1, to=['logits'])
    # sherpa-onnx keeps the state of at least one layer.
    states = [f'{of}.{part}' for of in ('decoder', 'encoder') for part in ('key', 'value')]
    for state in states:
        g.add('Identity', f'past_key_values.{state}', to=[f'present.{state}'])
    F, I, empty = TensorProto.FLOAT, TensorProto.INT64, [1, 1, 'length', 1]
    past = [(f'past_key_values.{state}', F, empty) for state in states]
    inputs = [('input_ids', I, [1, 1]), ('keys_and_values', F, CROSS), *past, ('use_cache_branch', TensorProto.BOOL, [1])]
    return g.model('decoder', inputs, [('logits', F, [1, 1, 'tokens']), *((f'present.{state}', F, empty) for state in states)])


def quantized(model, bits):
    """With four bits in the decoder, Spanish sounds like English twice as often; in the encoder they change little."""
    quantizer = MatMulNBitsQuantizer(model, bits=bits, block_size=128, is_symmetric=True, accuracy_level=4)
    quantizer.process()
    return quantizer.model.model


def main(source, target):
    weights = read_weights(source / 'model.bin')
    all_languages = json.loads((source / 'config.json').read_text())['lang_ids']
    vocabulary = json.loads((source / 'tokenizer.json').read_text())['added_tokens']
    names = {each['id']: each['content'].strip('<|>') for each in vocabulary}
    languages = [language for language in all_languages if names[language] in CODES]
    levels = range(LEVELS)
    texts = [f'{names[language]} {level} {english}' for language in languages for level in levels for english in levels]
    target.mkdir(parents=True, exist_ok=True)
    for name, model, bits in (('encoder', encoder(weights), 4), ('decoder', decoder(weights, languages), 8)):
        onnx.save(quantized(model, bits), target / f'{name}.onnx')
    lines = (f'{base64.b64encode(text.encode()).decode()} {TOKENS + index}\n' for index, text in enumerate(texts))
    (target / 'tokens.txt').write_text(''.join(lines))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
