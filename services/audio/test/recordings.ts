import { randomUUID } from 'node:crypto';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import { wavHeader } from '@call-analysis/testing';

/** The firm of all uploads and events of a test file. */
export const firmUuid = randomUUID();

/** The messages that the gateway sends for a form. Null leaves the metadata out. */
export function upload(
  bytes: Uint8Array,
  {
    fileName = 'a.wav',
    metadata = '{}',
    pieceBytes = 10_000,
  }: { fileName?: string; metadata?: string | null; pieceBytes?: number } = {},
): UploadRecordingRequestInit[] {
  const pieces: UploadRecordingRequestInit[] = [];
  for (let at = 0; at < bytes.length; at += pieceBytes) pieces.push({ chunk: bytes.subarray(at, at + pieceBytes) });
  return [
    { uploader: { firm_uuid: firmUuid, user_uuid: randomUUID() } },
    { file_name: fileName },
    ...pieces,
    ...(metadata === null ? [] : [{ metadata }]),
  ];
}

/** A WAV file of 16-bit PCM at 8 kHz. */
export function wavOf({ seconds = 1, channels = 2 }: { seconds?: number; channels?: number } = {}): Buffer {
  const frameBytes = 2 * channels;
  const data = Buffer.alloc(Math.round(seconds * 8000) * frameBytes);
  for (let at = 0; at + 1 < data.length; at += 2) data.writeInt16LE(((at * 7919) % 20_000) - 10_000, at);
  return Buffer.concat([wavHeader({ channels, dataBytes: data.length }), data]);
}
