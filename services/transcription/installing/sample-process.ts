// The main file of a process that transcribes samples with a new model. A file that is not a model ends only this
// process.
import { SampleBuffer } from '../audio/sample-buffer.ts';
import { readStereo } from '../audio/stereo.ts';
import { SAMPLE_RATE_HZ } from '../engines/speech-engine.ts';
import { maxSegmentSeconds } from '../models/model.ts';
import { LoadedModels } from '../recognition/loaded-models.ts';
import { recognize } from '../recognition/sherpa.ts';
import type { SampleMessage, SampleRequest } from './transcribe-samples.ts';

function send(message: SampleMessage): void {
  process.send?.(message);
}

async function transcribe({ model, files, directory }: SampleRequest): Promise<void> {
  const elapsed = () => performance.now() / 1000;
  const recognizer = await new LoadedModels(directory).recognizer(model);
  send({ type: 'loaded' });
  for (const { file, format } of files) {
    const sound = new SampleBuffer();
    for await (const [left] of readStereo(file, format)) sound.append(left);
    const samples = sound.copy(0, maxSegmentSeconds(model.kind) * SAMPLE_RATE_HZ);
    const startedAt = elapsed();
    const { text } = recognize(recognizer, samples);
    const seconds = samples.length / SAMPLE_RATE_HZ;
    send({ type: 'transcribed', text: text.trim(), seconds, tookSeconds: elapsed() - startedAt });
  }
}

process.once('message', (message: SampleRequest) => {
  void transcribe(message)
    .catch((error: unknown) => send({ type: 'error', message: error instanceof Error ? error.message : String(error) }))
    .finally(() => process.disconnect());
});
