#!/usr/bin/env python3
"""Converts Whisper base, as CTranslate2 stores it, into a model for sherpa-onnx, quantized to 8 bits.

    pip install numpy==2.4.6 onnx==1.23.2 onnx-ir onnxruntime==1.32.0
    python3 scripts/whisper-model.py MODEL_DIR TARGET_DIR

MODEL_DIR holds model.bin, config.json and tokenizer.json; scripts/speech-servers.sh fetches them. TARGET_DIR is what
`npm run -s admin -- speech-model add` takes as an archive: base-encoder.int8.onnx, base-decoder.int8.onnx and base-tokens.txt.
"""
import base64
import json
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

loader = SourceFileLoader('spoken_language_model', str(Path(__file__).with_name('spoken-language-model.py')))
spoken = module_from_spec(spec_from_loader(loader.name, loader))
loader.exec_module(spoken)

LAYERS, WIDTH, CONTEXT = spoken.LAYERS, spoken.WIDTH, 448
TRANSLATE, TRANSCRIBE, LANGUAGE_MODEL, PREVIOUS, NO_SPEECH, NO_TIMESTAMPS = range(50358, 50364)
END = 50257
SPACE = 220


def decoder(weights):
    """Takes the tokens from `offset` on, and keys and values of those before."""
    g = spoken.Graph(weights)
    integers = lambda *values: g.constant(values, np.int64)
    embeddings = weights['decoder/embeddings/weight']
    count = g.add('Gather', g.add('Shape', 'tokens'), integers(1))
    end = g.add('Add', 'offset', count)
    rows = g.add('Gather', g.constant(embeddings, np.float16), 'tokens')
    g.nodes.append(helper.make_node('Cast', [rows], ['embedded'], to=TensorProto.FLOAT))
    positions = g.constant(weights['decoder/position_encodings/encodings'])
    x = g.add('Add', 'embedded', g.add('Slice', positions, 'offset', end, integers(0)))
    # A token attends to those before it and to itself.
    scalar = lambda name: g.add('Squeeze', name, integers(0))
    own = g.add('Unsqueeze', g.add('Range', scalar('offset'), scalar(end), g.constant(1, np.int64)), integers(1))
    earlier = g.add('Unsqueeze', g.add('Range', g.constant(0, np.int64), scalar(end), g.constant(1, np.int64)), integers(0))
    mask = g.add('Where', g.add('LessOrEqual', earlier, own), g.constant(0), g.constant(-1e9))
    caches = {'k': [], 'v': []}
    for layer in range(LAYERS):
        name = f'decoder/layer_{layer}/self_attention'
        normed = g.norm(x, name)
        q, k, v = (g.linear(normed, f'{name}/linear_0', slice(part * WIDTH, (part + 1) * WIDTH)) for part in range(3))
        known = {}
        for part, new in (('k', k), ('v', v)):
            cache = g.add('Gather', f'in_n_layer_self_{part}_cache', g.constant(layer, np.int64), axis=0)
            known[part] = g.add('Concat', g.add('Slice', cache, integers(0), 'offset', integers(1)), new, axis=1)
            rest = g.add('Slice', cache, end, integers(CONTEXT), integers(1))
            caches[part].append(g.add('Unsqueeze', g.add('Concat', known[part], rest, axis=1), integers(0)))
        x = g.add('Add', x, g.linear(g.attention(q, known['k'], known['v'], mask), f'{name}/linear_1'))
        name = f'decoder/layer_{layer}/attention'
        q = g.linear(g.norm(x, name), f'{name}/linear_0')
        k, v = (g.add('Gather', f'n_layer_cross_{part}', g.constant(layer, np.int64), axis=0) for part in 'kv')
        x = g.add('Add', x, g.linear(g.attention(q, k, v), f'{name}/linear_2'))
        x = g.feed_forward(x, f'decoder/layer_{layer}/ffn')
    g.add('MatMul', g.norm(x, 'decoder'), g.constant(embeddings.T), to=['logits'])
    for part in 'kv':
        g.add('Concat', *caches[part], axis=0, to=[f'out_n_layer_self_{part}_cache'])
    cache, cross = [LAYERS, 'N', CONTEXT, WIDTH], [LAYERS, 'N', 'T', WIDTH]
    F, I = TensorProto.FLOAT, TensorProto.INT64
    inputs = [('tokens', I, ['N', 'n']), ('in_n_layer_self_k_cache', F, cache), ('in_n_layer_self_v_cache', F, cache), ('n_layer_cross_k', F, cross), ('n_layer_cross_v', F, cross), ('offset', I, [1])]
    outputs = [('logits', F, ['N', 'n', 'tokens']), ('out_n_layer_self_k_cache', F, cache), ('out_n_layer_self_v_cache', F, cache)]
    return g.model('decoder', inputs, outputs)


def bytes_of_letters():
    """The letters by which GPT-2's vocabulary writes bytes."""
    plain = [*range(ord('!'), ord('~') + 1), *range(ord('¡'), ord('¬') + 1), *range(ord('®'), ord('ÿ') + 1)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte): byte for byte in plain} | {chr(256 + at): byte for at, byte in enumerate(others)}


def main(source, target):
    weights = spoken.read_weights(source / 'model.bin')
    languages = json.loads((source / 'config.json').read_text())['lang_ids']
    tokenizer = json.loads((source / 'tokenizer.json').read_text())
    names = {each['id']: each['content'].strip('<|>') for each in tokenizer['added_tokens']}
    listed = lambda values: ','.join(str(value) for value in values)
    start = spoken.START_OF_TRANSCRIPT
    metadata = {
        'model_type': 'whisper-base', 'n_mels': spoken.MELS, 'n_text_layer': LAYERS, 'n_text_ctx': CONTEXT, 'n_text_state': WIDTH,
        'n_text_head': spoken.HEADS, 'n_vocab': len(weights['decoder/embeddings/weight']), 'is_multilingual': 1, 'n_audio_ctx': 1500,
        'n_audio_state': WIDTH, 'n_audio_head': spoken.HEADS, 'n_audio_layer': LAYERS, 'sot': start, 'sot_index': 0, 'eot': END,
        'sot_sequence': listed([start, spoken.ENGLISH, TRANSCRIBE]), 'sot_lm': LANGUAGE_MODEL, 'sot_prev': PREVIOUS,
        'blank_id': SPACE, 'space_id': SPACE, 'translate': TRANSLATE, 'transcribe': TRANSCRIBE, 'no_speech': NO_SPEECH,
        'no_timestamps': NO_TIMESTAMPS, 'non_speech_tokens': '0', 'all_language_tokens': listed(languages),
        'all_language_codes': listed(names[language] for language in languages),
    }
    target.mkdir(parents=True, exist_ok=True)
    for name, model in (('encoder', spoken.encoder(weights)), ('decoder', decoder(weights))):
        model = spoken.quantized(model, 8)
        if name == 'encoder':
            helper.set_model_props(model, {key: str(value) for key, value in metadata.items()})
        onnx.save(model, target / f'base-{name}.int8.onnx')
    letters = bytes_of_letters()
    tokens = sorted((number, token) for token, number in tokenizer['model']['vocab'].items() if number < END)
    lines = [f'{base64.b64encode(bytes(letters[letter] for letter in token)).decode()} {number}\n' for number, token in tokens]
    (target / 'base-tokens.txt').write_text(''.join(lines))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
