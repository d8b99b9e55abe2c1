import * as events from '@call-analysis/events';
import { z } from 'zod';
import { Count, pageOf, Time, Uuid } from './fields.ts';

/** docs/api.md, "Firm and users". */

/** What a user may do (docs/api.md, "Roles"). */
export const UserRole = z.enum(['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN', 'REVIEWER', 'OPERATOR']);

/** How many `operator_ids` a user has at most, and how many characters each. */
export const MAX_OPERATOR_IDS = 100;
export const MAX_OPERATOR_ID_CHARS = 255;
export const MAX_SEGMENT_TYPES = 1000;

/** Much longer than any valid key, so that no request makes a service hash a megabyte. */
const MAX_API_KEY_LENGTH = 512;

/**
 * Whether a text has the form of an API key: 7 characters, `$` and at least one more, at most 512 in all (docs/api.md, "Keys
 * and users"). A text of this form that is not a key is unknown, not malformed.
 */
export function hasApiKeyForm(text: string): boolean {
  return text.length <= MAX_API_KEY_LENGTH && /^.{7}\$./su.test(text);
}

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

export const SessionToken = z.object({ token: z.string(), expires_at: Time }).meta({
  id: 'SessionToken',
  examples: [{ token: 'eyJhbGciOiJFZERTQSJ9.e30.c2ln', expires_at: '2026-10-01T18:15:00Z' }],
});

export const SignInMethods = z.object({ openid: z.object({ name: z.string(), url: z.url() }).nullable() }).meta({
  id: 'SignInMethods',
  examples: [{ openid: { name: 'login.example.com', url: 'https://calls.example.com/api/v1/session/openid' } }],
});

/** docs/api.md, "Keys and users". */

const Firm = z.object({ uuid: Uuid, name: z.string() }).meta({ id: 'Firm' });
const exampleFirm = { uuid: '1a2b3c4d-0000-4000-8000-000000000001', name: 'Acme' };

export const CreatedKey = z
  .object({
    api_key: z
      .string()
      .meta({ description: 'Shown only this once. Put it in single quotes in a shell: it contains a `$`.' }),
    key_prefix: z.string(),
    firm: Firm,
  })
  .meta({
    id: 'CreatedApiKey',
    examples: [
      { api_key: '1a2b3c4$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ', key_prefix: '1a2b3c4', firm: exampleFirm },
    ],
  });

const ApiKey = z
  .object({
    uuid: Uuid,
    key_prefix: z.string(),
    is_active: z.boolean(),
    firm: Firm,
    created_at: Time,
    last_used: Time.nullable().meta({ description: 'Up to one minute late. Null before the first use.' }),
    expires_at: Time.optional().meta({ description: 'Only of a key that expires.' }),
  })
  .meta({ id: 'ApiKey' });

export const KeyPage = pageOf(ApiKey, 'ApiKeyPage', {
  uuid: '019a4f3e-1111-7000-8000-000000000001',
  key_prefix: '1a2b3c4',
  is_active: true,
  firm: exampleFirm,
  created_at: '2026-10-01T18:00:00.120Z',
  last_used: null,
});

const AuditEntry = z
  .object({
    at: Time,
    actor: z.string().meta({
      description:
        "A user's uuid, `admin` for the admin command, or `unknown` for a caller who could not be identified.",
    }),
    actor_name: z.string().nullable().meta({ description: 'The name of a user of the firm, also of a removed one.' }),
    action: z.string(),
    subject: z.string().meta({
      description: 'A uuid. If the action concerns a part that has no uuid, a slash and the name of the part follow.',
    }),
    subject_name: z
      .string()
      .nullable()
      .meta({ description: "The subject's name, if the subject is a user of the firm." }),
    request_id: z.string(),
    address: z.string().meta({ description: 'The network address of the actor, or `local` for the admin command.' }),
    code: z.string().optional().meta({ description: 'Only of a refused request: the error code of its response.' }),
  })
  .meta({ id: 'AuditEntry' });

/** docs/api.md, "Keys and users". */
export const AuditPage = pageOf(AuditEntry, 'AuditPage', {
  at: '2026-10-01T18:00:00.120Z',
  actor: '019a4f3e-2222-7000-8000-000000000001',
  actor_name: 'Aziza Karimova',
  action: 'call.erased',
  subject: '019a4f3e-1111-7000-8000-000000000001',
  subject_name: null,
  request_id: '5b2c6c1e-8f1b-4a3e-9d57-0c6f5a1b2c3d',
  address: '203.0.113.7',
});

/** Whether it is the IANA name of a time zone. */
export function isTimeZone(name: string): boolean {
  // `+05:00` is accepted by Intl, but PostgreSQL reads its sign the other way round.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
