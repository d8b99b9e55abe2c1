import type { audio } from '@call-analysis/proto';
import type { UploadRecordingReply } from '@call-analysis/proto/audio/v1/UploadRecordingReply';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import type { Client } from '@call-analysis/rpc';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { Form, FormPiece } from '../../http/multipart/form.ts';
import type { Answer } from '../../http/response/json-response.ts';
import type { About } from '../../openapi/operation.ts';
import { RecordingMetadata, UploadedRecording } from '../../response-schemas/uploads.ts';

type Recordings = Pick<Client<typeof audio>, 'uploadRecording'>;

const UPLOAD_MS = 30 * 60_000;
/** From the last byte to the answer: the recording is probed and the call registered. */
const REGISTER_MS = 60_000;
/** Messages of this size carry half as much again per second as those of 64 KiB, the pieces in which a body comes. */
const MESSAGE_BYTES = 128 * 1024;

/** external-interface.md, "Endpoints" 7; api.md, section 4. */
export const recordingForm: Form = {
  parts: {
    audio_file: { kind: 'file', maxBytes: 52_428_800 },
    metadata: { kind: 'text', maxBytes: 64 * 1024 },
  },
  maxMs: UPLOAD_MS,
};

export const aboutRecording = {
  tag: 'Uploads',
  summary: 'Upload a recording',
  description:
    'One stereo recording of up to 50 MB (.wav, .mp3, .flac, .ogg, .aiff, .au) with its metadata; the parts may come in either order. The same `partner_call_id` with the same bytes again gives the same `audio_id`.',
  jsonParts: { metadata: RecordingMetadata },
  answers: { 200: { description: 'The recording is stored and queued for processing.', schema: UploadedRecording } },
  refusals: [
    'INVALID_FILE_FORMAT',
    'INVALID_PHONE_NUMBER',
    'AUDIO_FILENAME_MISMATCH',
    'AUDIO_UNREADABLE',
    'AUDIO_NOT_STEREO',
    'INSUFFICIENT_STORAGE',
  ],
} satisfies About;

export function recordings(audio: Recordings): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/audio/upload',
      proof: 'bearer',
      body: recordingForm,
      about: aboutRecording,
      handle: ({ caller, body }) => uploadRecording(audio, caller, body),
    }),
  ];
}

/** Hands a form of `recordingForm` on while it comes in; a form that fails on its way leaves nothing behind. */
export async function uploadRecording(
  audio: Recordings,
  caller: Caller,
  form: AsyncIterable<FormPiece>,
  campaignUuid?: string,
): Promise<Answer> {
  // No signal: a form that has come whole is finished, and sending it again gives the same answer.
  const uploaded = await audio.uploadRecording(messages(caller, form, campaignUuid), {
    deadlineMs: UPLOAD_MS + REGISTER_MS,
  });
  return {
    status: 200,
    body: {
      status: 'ok',
      audio_id: uploaded.audio_id,
      message: sentence(uploaded),
      ...(uploaded.ignored_fields.length > 0 && { ignored_fields: uploaded.ignored_fields }),
    },
  };
}

function sentence({ repeated_upload, has_ended }: UploadRecordingReply): string {
  if (repeated_upload !== true) return 'The recording was accepted and is queued for processing.';
  const before = 'This recording was taken in before; nothing was changed.';
  if (has_ended !== true) return before;
  return `${before} Its call failed for good or was canceled: to send it anew, erase that call first (DELETE /api/v1/calls/{uuid}).`;
}

async function* messages(
  caller: Caller,
  form: AsyncIterable<FormPiece>,
  campaignUuid: string | undefined,
): AsyncGenerator<UploadRecordingRequestInit> {
  const uploader = { firm_uuid: caller.firmUuid, user_uuid: caller.userUuid };
  yield { uploader: campaignUuid === undefined ? uploader : { ...uploader, campaign_uuid: campaignUuid } };
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of form) {
    if ('bytes' in piece) {
      pieces.push(piece.bytes);
      size += piece.bytes.length;
      if (size < MESSAGE_BYTES) continue;
    }
    if (size > 0) yield { chunk: Buffer.concat(pieces) };
    [pieces, size] = [[], 0];
    if ('fileName' in piece) yield { file_name: piece.fileName };
    else if ('text' in piece) yield { metadata: piece.text };
  }
  if (size > 0) yield { chunk: Buffer.concat(pieces) };
}
