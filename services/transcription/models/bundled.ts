import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Model } from './model.ts';

/** The model that comes with the packages: Moonshine tiny, which knows English alone. */
export function bundledModel(): Model {
  const entry = fileURLToPath(import.meta.resolve('@moonshine-ai/moonshine-js'));
  const folder = join(dirname(entry), 'model/tiny/quantized');
  return {
    name: 'moonshine-tiny',
    kind: 'moonshine',
    languages: ['en'],
    files: {
      encoder: join(folder, 'encoder_model.onnx'),
      // Missing in the type list of sherpa-onnx-node, but this is the name it reads.
      mergedDecoder: join(folder, 'decoder_model_merged.onnx'),
    },
  };
}

/**
 * The file of tokens that the bundled model needs and no package ships: Moonshine was trained on the vocabulary of
 * Llama 2. Each line is a token's bytes in base64 and its number. Made once in a directory.
 */
export async function bundledTokens(directory: string): Promise<string> {
  const file = join(directory, 'moonshine-tiny.tokens.txt');
  if (existsSync(file)) return file;
  const { default: tokenizer } = await import('llama-tokenizer-js');
  const lines = tokenizer.vocabById.map((token, id) => `${bytesOf(token).toString('base64')} ${id}\n`);
  // Several processes may do this at once, so the whole file gets its name at once.
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, lines.join(''));
  await rename(draft, file);
  return file;
}

/** `▁` is a blank, `<0xNN>` a byte. */
function bytesOf(token: string): Buffer {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1];
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
}
