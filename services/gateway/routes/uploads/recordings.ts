import { RecordingMetadata, UploadedRecording } from '@call-analysis/api/uploads';
import type { UploadRecordingReply } from '@call-analysis/proto/audio/v1/UploadRecordingReply';
import type { UploadRecordingRequestInit } from '@call-analysis/proto/audio/v1/UploadRecordingRequest';
import type { Caller } from '../../authentication/caller.ts';
import { endpoint, type Endpoint } from '../../http/endpoint.ts';
import type { Form, FormPiece } from '../../http/multipart/form.ts';
import type { OperationDocs } from '../../http/operation-docs.ts';
import type { JsonResponse } from '../../http/response/send.ts';
import type { Services } from '../rpc-caller.ts';

const UPLOAD_MS = 30 * 60_000;
/** From the last byte to the response: the recording is probed and the call is registered. */
const REGISTER_MS = 60_000;
/** A body arrives in pieces of 64 KiB. Messages of twice that size carry 1.5 times as many bytes per second. */
const MESSAGE_BYTES = 128 * 1024;

/** docs/api.md, "Single upload". */
export const recordingForm: Form = {
  parts: {
    audio_file: { kind: 'file', maxBytes: 52_428_800 },
    metadata: { kind: 'text', maxBytes: 64 * 1024 },
  },
  maxMs: UPLOAD_MS,
};

export const recordingDocs = {
  id: 'uploadRecording',
  summary: 'Upload a recording',
  description:
    'One stereo recording of up to 50 MB (.wav, .mp3, .flac, .ogg, .aiff, .au) with its metadata. The parts may be in either order. Uploading the same `partner_call_id` with the same bytes again returns the same `audio_id`.',
  jsonParts: { metadata: RecordingMetadata },
  responses: { 200: { description: 'The recording is stored and queued for processing.', schema: UploadedRecording } },
  errors: [
    'INVALID_FILE_FORMAT',
    'INVALID_PHONE_NUMBER',
    'AUDIO_FILENAME_MISMATCH',
    'AUDIO_UNREADABLE',
    'AUDIO_NOT_STEREO',
    'INSUFFICIENT_STORAGE',
  ],
} satisfies Omit<OperationDocs, 'tag'>;

export function recordings({ audio }: Services): Endpoint[] {
  return [
    endpoint({
      method: 'POST',
      path: '/api/v1/audio/upload',
      tag: 'Uploads',
      body: recordingForm,
      ...recordingDocs,
      handle: ({ caller, body }) => uploadRecording(audio, caller, body),
    }),
  ];
}

/** Forwards a form of `recordingForm` while it arrives. A form that fails on the way leaves nothing in the store. */
export async function uploadRecording(
  audio: Services['audio'],
  caller: Caller,
  form: AsyncIterable<FormPiece>,
  campaignUuid?: string,
): Promise<JsonResponse> {
  // Not aborted when the client leaves: a complete form is processed, and sending it again returns the same result.
  const uploaded = await audio.uploadRecording(messages(caller, form, campaignUuid), {
    deadlineMs: UPLOAD_MS + REGISTER_MS,
  });
  return {
    status: 200,
    body: {
      status: 'ok',
      audio_id: uploaded.audio_id,
      message: messageOf(uploaded),
      ...(uploaded.ignored_fields.length > 0 && { ignored_fields: uploaded.ignored_fields }),
    },
  };
}

function messageOf({ repeated_upload, has_ended }: UploadRecordingReply): string {
  if (repeated_upload !== true) return 'The recording was accepted and is queued for processing.';
  const repeated = 'This recording was uploaded before. Nothing was changed.';
  if (has_ended !== true) return repeated;
  return `${repeated} Its call failed permanently or was canceled. To upload it again, first erase that call (DELETE /api/v1/calls/{uuid}).`;
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
