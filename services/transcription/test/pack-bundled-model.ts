import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import tar from 'tar-stream';
import { bundledModel, preparedBundledModel } from '../models/bundled.ts';

/** The bundled model as an archive like those of upstream, with a recording. `directory`: for its tokens. */
export async function packBundledModel(directory: string, recording: string): Promise<Buffer> {
  const name = 'sherpa-onnx-moonshine-tiny-en';
  const { files } = bundledModel();
  const contents = {
    'encoder_model.onnx': await readFile(files['encoder']!),
    'decoder_model_merged.onnx': await readFile(files['mergedDecoder']!),
    'tokens.txt': await readFile((await preparedBundledModel(directory)).tokens),
    'test_wavs/0.wav': await readFile(recording),
    'test_wavs/trans.txt': '0.wav good afternoon how can i help you today\n',
  };
  const pack = tar.pack();
  // The weights do not get smaller.
  const packed = buffer(pack.pipe(createGzip({ level: 0 })));
  pack.entry({ name: `${name}/`, type: 'directory' });
  for (const [file, bytes] of Object.entries(contents)) {
    await new Promise<void>((resolve, reject) =>
      pack.entry({ name: `${name}/${file}` }, bytes, (error) => (error ? reject(error) : resolve())),
    );
  }
  pack.finalize();
  return packed;
}
