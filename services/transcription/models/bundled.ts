import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fasterDecoder } from './faster-decoder.ts';
import type { Model } from './model.ts';

/** Moonshine tiny for English, which an npm package contains. */
export function bundledModel(): Model {
  const entry = fileURLToPath(import.meta.resolve('@moonshine-ai/moonshine-js'));
  const folder = join(dirname(entry), 'model/tiny/quantized');
  return {
    name: 'moonshine-tiny',
    kind: 'moonshine',
    languages: ['en'],
    files: {
      encoder: join(folder, 'encoder_model.onnx'),
      // Missing from sherpa-onnx-node's list of types, but this is the name that it reads.
      mergedDecoder: join(folder, 'decoder_model_merged.onnx'),
    },
  };
}

/**
 * The part of Whisper base that identifies languages, in the form of Moonshine. Its texts are "de 6 1": a language, and the
 * first digits of its probability and of the one of English.
 */
export function spokenLanguageModel(): Model & { readonly tokens: string } {
  const file = (name: string) => fileURLToPath(new URL(`./spoken-language/${name}`, import.meta.url));
  return {
    name: 'spoken-language',
    kind: 'moonshine',
    languages: [],
    files: { encoder: file('encoder.onnx'), mergedDecoder: file('decoder.onnx') },
    tokens: file('tokens.txt'),
  };
}

/**
 * The bundled model as the engine needs it, with files that no package contains. They are created once per directory;
 * other contents need other names. The tokens are the vocabulary of Llama 2, on which Moonshine was trained: each line
 * has a token's bytes in base64 and its number.
 */
export async function preparedBundledModel(directory: string): Promise<Model & { readonly tokens: string }> {
  const model = bundledModel();
  const entry = fileURLToPath(import.meta.resolve('@moonshine-ai/moonshine-js'));
  const { version } = JSON.parse(await readFile(join(dirname(entry), '../package.json'), 'utf8')) as {
    version: string;
  };
  const [tokens, mergedDecoder] = await Promise.all([
    createdOnce(join(directory, 'moonshine-tiny.tokens.txt'), async () => {
      const { default: tokenizer } = await import('llama-tokenizer-js');
      const lines = tokenizer.vocabById.map((token, id) => `${bytesOf(token).toString('base64')} ${id}\n`);
      return lines.join('');
    }),
    createdOnce(join(directory, `moonshine-tiny-${version}.decoder-2.onnx`), async () =>
      fasterDecoder(await readFile(model.files['mergedDecoder']!)),
    ),
  ]);
  return { ...model, tokens, files: { ...model.files, mergedDecoder } };
}

/** Several processes may do this at the same time. Renaming makes the complete file appear atomically. */
async function createdOnce(file: string, content: () => Promise<string | Buffer>): Promise<string> {
  if (existsSync(file)) return file;
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, await content());
  await rename(draft, file);
  return file;
}

/** `▁` means a space, `<0xNN>` a byte. */
function bytesOf(token: string): Buffer {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1];
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
}
