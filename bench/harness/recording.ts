import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { wavHeader } from '@call-analysis/testing';
import { metadataOf } from '../../deploy/standalone/test/client/valid-uploads.ts';

const MIB = 1024 ** 2;
const HEADER_BYTES = 44;
const BOUNDARY = 'one-recording';
const samples = Buffer.alloc(50 * MIB - HEADER_BYTES);
const head = wavHeader({ channels: 2, dataBytes: samples.length, sampleRate: 192_000, bits: 32 });
let sent = 0;

/** 50 MiB of WAV, 32-bit stereo at 192 kHz. It is silent and short, so that transcribing it takes little time. */
export const recording: readonly Buffer[] = [head, samples];
export const recordingMiB = 50;

/** The recording in a form with its metadata, each with a new partner_call_id. */
export function form(): Buffer[] {
  const metadata = JSON.stringify(metadataOf('silence.wav', { partner_call_id: `silence-${sent++}` }));
  const part = (name: string) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
  return [
    Buffer.from(
      `${part('metadata')}\r\n\r\n${metadata}\r\n${part('audio_file')}; filename="silence.wav"\r\nContent-Type: audio/wav\r\n\r\n`,
    ),
    ...recording,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ];
}

/** Sends a form. Throws unless the status is 200. */
export async function post(url: string, body: readonly Buffer[], headers: Record<string, string> = {}): Promise<void> {
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  const sending = request(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': `multipart/form-data; boundary=${BOUNDARY}`, 'content-length': length },
  });
  const answered = once(sending, 'response');
  for (const piece of body) sending.write(piece);
  sending.end();
  const [response] = (await answered) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  if (response.statusCode !== 200) throw new Error(`answered ${response.statusCode}: ${text}`);
}
