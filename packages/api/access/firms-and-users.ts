import * as events from '@call-analysis/events';
import { z } from 'zod';
import { Count, pageOf, Time, Uuid } from '../fields.ts';

/** docs/api.md, "Firm and users". */

/** What a user may do (docs/api.md, "Roles"). */
export const UserRole = z.enum(['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN', 'REVIEWER', 'OPERATOR']);

/** How many `operator_ids` a user has at most, and how many characters each. */
export const MAX_OPERATOR_IDS = 100;
export const MAX_OPERATOR_ID_CHARS = 255;

export const Language = events.Language.meta({ id: 'Language' });
export const Redaction = events.Redaction.meta({ id: 'Redaction' });

const Days = z.int().min(1).max(36_500).nullable();

export const FirmSettings = z
  .object({
    uuid: Uuid,
    name: z.string(),
    country: z.string().meta({ description: 'ISO 3166-1 alpha-2.' }),
    language: Language.meta({ description: 'The language of every sentence that the service writes for the firm.' }),
    time_zone: z.string().meta({ description: 'An IANA name.' }),
    redaction: Redaction.meta({
      description: 'Whether personal data in transcripts is masked for language models, or also in what is stored.',
    }),
    segment_types: z.array(z.string()),
    retention: z
      .object({ audio_days: Days, transcript_days: Days, calls_days: Days })
      .meta({ id: 'Retention', description: 'How many days data is kept. Null: until it is erased.' }),
    storage: z
      .object({ used_bytes: Count, quota_bytes: Count.nullable().meta({ description: 'Null: without a quota.' }) })
      .meta({ id: 'Storage', description: 'Of recordings and archives.' }),
  })
  .meta({
    id: 'FirmSettings',
    examples: [
      {
        uuid: '1a2b3c4d-0000-4000-8000-000000000001',
        name: 'Orient Telecom',
        country: 'UZ',
        language: 'ru',
        time_zone: 'Asia/Tashkent',
        redaction: 'none',
        segment_types: ['Sales', 'Support'],
        retention: { audio_days: 90, transcript_days: 365, calls_days: null },
        storage: { used_bytes: 184_320_044, quota_bytes: null },
      },
    ],
  });

const exampleUser = {
  uuid: '019a4f3e-2222-7000-8000-000000000001',
  name: 'Aziza Karimova',
  role: 'ADMIN',
  operator_ids: [],
  is_api_user: false,
  created_at: '2026-10-01T04:00:00.000Z',
};

export const User = z
  .object({
    uuid: Uuid,
    name: z.string(),
    role: UserRole,
    operator_ids: z
      .array(z.string())
      .meta({ description: 'As an OPERATOR, the user sees the calls with one of these.' }),
    is_api_user: z.boolean().meta({ description: "Whether the firm's API key acts on behalf of this user." }),
    created_at: Time,
  })
  .meta({ id: 'User', examples: [exampleUser] });

export const UserPage = pageOf(User, 'UserPage', exampleUser);

export const ConsoleLink = z
  .object({ url: z.url().meta({ description: 'The link signs the user in once.' }), expires_at: Time })
  .meta({
    id: 'ConsoleLink',
    examples: [
      {
        url: 'https://calls.example.com/console/#code=jV3bQ0W1m0zS2nYb7mT4Yt5rU8oH2c9dXq6eK1fL0pA',
        expires_at: '2026-10-01T18:10:00Z',
      },
    ],
  });
