import { Direction, Role } from '@call-analysis/events';
import { z } from 'zod';
import { CallSource } from './calls.ts';
import { Count, pageOf, Time, Uuid } from './fields.ts';

const batchId = '019a4f3e-7b00-7aa1-8c11-0d9e4f6a7b02';

/** docs/api.md, "Presigned uploads". */
const UploadUrls = z
  .object({
    metadata_upload_url: z.url().meta({ description: 'PUT the CSV to this URL.' }),
    metadata_key: z.string(),
    audio_upload_url: z.url().optional().meta({ description: 'PUT the ZIP to this URL.' }),
    audio_key: z.string().optional(),
    expires_in: z.int().meta({ description: 'Seconds for which the URLs and the upload are valid.' }),
  })
  .meta({ id: 'UploadUrls' });

export const OpenedUpload = z
  .object({
    status: z.literal('success'),
    data: UploadUrls,
  })
  .meta({
    id: 'OpenedUpload',
    examples: [
      {
        status: 'success',
        data: {
          metadata_upload_url:
            'https://calls.example/objects/UZ/acme/ann/calls.csv?expires=1790000000&max=5368709120&method=PUT&signature=mE4Pj1bq',
          metadata_key: 'UZ/1a2b3c4d-0000-4000-8000-000000000001/1a2b3c4d-0000-4000-8000-00000000000a/calls.csv',
          expires_in: 3600,
        },
      },
    ],
  });

const UploadResult = z
  .object({
    message: z.string(),
    batch_id: Uuid,
    accepted: Count,
    duplicates: Count.meta({ description: 'Rows whose partner_call_id the firm already has.' }),
    rejected: Count,
    ignored_columns: z.array(z.string()),
  })
  .meta({ id: 'UploadResult' });

export const ProcessedUpload = z
  .object({
    status: z.literal('success'),
    data: UploadResult,
  })
  .meta({
    id: 'ProcessedUpload',
    examples: [
      {
        status: 'success',
        data: {
          message: '53 calls were validated and queued for processing.',
          batch_id: batchId,
          accepted: 53,
          duplicates: 0,
          rejected: 0,
          ignored_columns: ['comment'],
        },
      },
    ],
  });

/** docs/api.md, "Single upload". */
export const UploadedRecording = z
  .object({
    status: z.literal('ok'),
    audio_id: Uuid.meta({ description: 'The uuid of the call.' }),
    message: z.string(),
    ignored_fields: z.array(z.string()).optional().meta({ description: 'Unknown fields of the metadata.' }),
  })
  .meta({
    id: 'UploadedRecording',
    examples: [
      {
        status: 'ok',
        audio_id: '019a4f3e-7c1a-7d20-9b1e-5f2a61c0d301',
        message: 'The recording was accepted and is queued for processing.',
      },
    ],
  });

/** docs/api.md, "Calls". */
export const BatchItem = z
  .object({
    batch_id: Uuid,
    kind: CallSource,
    created_at: Time,
    accepted: Count,
    duplicates: Count,
    rejected: Count,
    by_status: z.record(z.string(), Count).meta({ description: 'Without erased calls.' }),
    erased: Count,
    finished_at: Time.nullable(),
    file_name: z.string().nullable().meta({ description: 'Of the CSV.' }),
    archive_name: z.string().nullable().meta({ description: 'Of the ZIP with its recordings.' }),
    uploaded_by: Uuid.nullable().meta({ description: 'A user.' }),
    rejected_csv_url: z.url().nullable(),
  })
  .meta({
    id: 'Batch',
    examples: [
      {
        batch_id: batchId,
        kind: 'transcription',
        created_at: '2026-10-01T18:00:00.120Z',
        accepted: 53,
        duplicates: 0,
        rejected: 0,
        by_status: { completed: 53 },
        erased: 0,
        finished_at: '2026-10-01T18:00:04.310Z',
        file_name: 'october.csv',
        archive_name: null,
        uploaded_by: '1a2b3c4d-0000-4000-8000-000000000002',
        rejected_csv_url: null,
      },
    ],
  });

export const BatchPage = pageOf(BatchItem, 'BatchPage');

/** The JSON text of the part `metadata` (docs/api.md, "Single upload"). */
export const RecordingMetadata = z
  .looseObject({
    audio_file_name: z.string().min(1),
    client_phone_number: z.string().regex(/^\+?\d{7,15}$/),
    operator_name: z.string().min(1),
    start_time: z.string().meta({ description: 'ISO 8601. Without an offset it is UTC.' }),
    segment_type: z.string().min(1).meta({ description: 'One of the firm’s segment types.' }),
    left_channel: Role,
    right_channel: Role,
    partner_call_id: z.string().min(1).max(255).optional(),
    direction: Direction.optional(),
    operator_group_name: z.string().min(1).max(255).optional(),
    disconnect_reason: z.string().min(1).max(255).optional(),
  })
  .meta({
    id: 'RecordingMetadata',
    examples: [
      {
        audio_file_name: 'call-1.wav',
        client_phone_number: '+998901234567',
        operator_name: 'Aziza Karimova',
        start_time: '2026-10-01T09:00:00Z',
        segment_type: 'support',
        left_channel: 'operator',
        right_channel: 'client',
      },
    ],
  });
