import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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

/** The part of Whisper base that identifies languages. Its tokens are "en 9": a language and the first digit of its probability. */
export function spokenLanguageModel(): { encoder: string; decoder: string } {
  const file = (name: string) => fileURLToPath(new URL(`./spoken-language/${name}.onnx`, import.meta.url));
  return { encoder: file('encoder'), decoder: file('decoder') };
}

/**
 * The bundled model's token file, which no package contains. It is created once per directory from the vocabulary of
 * Llama 2, on which Moonshine was trained. Each line has a token's bytes in base64 and its number.
 */
export async function bundledTokens(directory: string): Promise<string> {
  const file = join(directory, 'moonshine-tiny.tokens.txt');
  if (existsSync(file)) return file;
  const { default: tokenizer } = await import('llama-tokenizer-js');
  const lines = tokenizer.vocabById.map((token, id) => `${bytesOf(token).toString('base64')} ${id}\n`);
  // Several processes may do this at the same time. Renaming makes the complete file appear atomically.
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, lines.join(''));
  await rename(draft, file);
  return file;
}

/** `▁` stands for a space, `<0xNN>` for a byte. */
function bytesOf(token: string): Buffer {
  const byte = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1];
  return byte === undefined ? Buffer.from(token.replaceAll('▁', ' ')) : Buffer.from(byte, 'hex');
}
