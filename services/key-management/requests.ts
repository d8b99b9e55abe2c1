import {
  isTimeZone,
  MAX_SEGMENT_TYPES,
  MAX_OPERATOR_ID_CHARS,
  MAX_OPERATOR_IDS,
  UserRole,
} from '@call-analysis/api/access';
import { Language, Redaction, Uuid } from '@call-analysis/events';
import { type FieldFault, invalidFields, nameFault } from '@call-analysis/fault';
import { z } from 'zod';

const MAX_PAGE_SIZE = 100;
const MAX_AUDIT_ENTRIES = 1000;
const MAX_KEYS_PER_REQUEST = 200;

/** The uuid of something new. Services of the release before, which may still run, read versions 1 to 8 only. */
const NewUuid = z.uuid('must be a uuid of version 1 to 8').toLowerCase();

/** proto3 sends an absent string as an empty one. */
const absentWhenEmpty = z
  .string()
  .optional()
  .transform((text) => (text === '' ? undefined : text));

/** Trimmed, 1 to 255 code points. */
const Name = z
  .string()
  .trim()
  .refine((text) => text !== '' && [...text].length <= 255, 'must have 1 to 255 characters')
  .superRefine((text, context) => {
    const message = nameFault(text);
    if (message !== null) context.addIssue({ code: 'custom', message });
  });

const OperatorIds = z
  .array(
    z
      .string()
      .trim()
      .refine(
        (id) => id !== '' && [...id].length <= MAX_OPERATOR_ID_CHARS && id.isWellFormed() && !id.includes('\0'),
        `must be text of 1 to ${MAX_OPERATOR_ID_CHARS} characters`,
      ),
  )
  .max(MAX_OPERATOR_IDS)
  .transform((ids) => [...new Set(ids)]);
/** Undefined: nothing was said. */
const OptionalOperatorIds = z
  .object({ ids: OperatorIds })
  .nullish()
  .transform((given) => given?.ids);

const Country = z
  .string()
  .trim()
  .regex(/^[A-Za-z]{2}$/, 'must be a two-letter ISO 3166 code')
  .toUpperCase();

const Caller = z
  .object({ user_uuid: Uuid, role: z.string(), address: z.string() })
  .transform(({ user_uuid: name, role, address }) => ({ name, role, address }));

/** Who acts on the actor's own firm. */
const FirmCaller = z
  .object({ user_uuid: Uuid, firm_uuid: Uuid, role: z.string(), address: z.string() })
  .transform(({ user_uuid: name, firm_uuid: firmUuid, role, address }) => ({ name, firmUuid, role, address }));
/** Null: the admin command. */
const OptionalActor = FirmCaller.nullish().transform((actor) => actor ?? null);

const TimeZone = z
  .string()
  .refine(isTimeZone, 'must be the IANA name of a time zone, such as Asia/Tashkent')
  .transform((name) => new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone);
/** proto3 sends an absent string as an empty one; the default then holds. */
const orDefault = <Value>(schema: z.ZodType<Value, string>) =>
  absentWhenEmpty.pipe(schema.optional() as z.ZodType<Value | undefined, string | undefined>);

const Time = z.iso.datetime({ offset: true }).transform((text) => new Date(text));
const FutureTime = Time.refine((time) => time.getTime() > Date.now(), 'must be in the future');
/** 0 removes the limit. */
const Days = z
  .int()
  .min(0)
  .max(36_500)
  .transform((days) => (days === 0 ? null : days));

export const CreateKey = z.object({ actor: Caller, firm_uuid: Uuid, expires_at: FutureTime.optional() });
export const RotateKey = z.object({ actor: Caller, key_uuid: Uuid, grace_seconds: z.int().min(0).max(86_400) });
export const ListKeys = z.object({ actor: Caller, page: z.int().min(1), size: z.int().min(1).max(MAX_PAGE_SIZE) });
export const DeleteKey = z.object({ actor: Caller, key_uuid: Uuid });
// A malformed key is a verdict, not an invalid request.
export const VerifyKeys = z.object({ api_keys: z.array(z.string()).max(MAX_KEYS_PER_REQUEST) });
export const FindUser = z.object({
  user_uuid: Uuid,
  session_uuid: absentWhenEmpty.pipe(Uuid.optional()),
  firm_uuid: absentWhenEmpty.pipe(Uuid.optional()),
});
export const FindFirm = z.object({ firm_uuid: Uuid });
export const CreateFirm = z.object({
  uuid: absentWhenEmpty.pipe(NewUuid.optional()),
  name: Name,
  country: Country,
  segment_types: z.array(Name).transform((names) => [...new Set(names)]),
  language: orDefault(Language),
  time_zone: orDefault(TimeZone),
});
export const UpdateFirm = z.object({
  actor: OptionalActor,
  firm_uuid: Uuid,
  name: Name.optional(),
  segment_types: z.object({ names: z.array(Name).max(MAX_SEGMENT_TYPES) }).nullish(),
  language: Language.optional(),
  time_zone: TimeZone.optional(),
  redaction: Redaction.optional(),
  retention: z
    .object({ audio_days: Days.optional(), transcript_days: Days.optional(), calls_days: Days.optional() })
    .nullish(),
});
export const RemoveFirm = z.object({ firm_uuid: Uuid, confirmation: z.string().max(1024) });
export const AddSegmentType = z.object({ firm_uuid: Uuid, name: Name });
export const CreateUser = z.object({
  actor: OptionalActor,
  firm_uuid: Uuid,
  name: Name,
  role: UserRole,
  operator_ids: OperatorIds,
});
export const ListUsers = z.object({
  firm_uuid: Uuid,
  page: z.int().min(0).default(0),
  size: z.int().min(0).max(MAX_PAGE_SIZE).default(0),
});
export const ChangeUser = z.object({
  actor: FirmCaller,
  user_uuid: Uuid,
  name: Name.optional(),
  role: UserRole.optional(),
  operator_ids: OptionalOperatorIds,
});
export const RemoveUser = z.object({ actor: OptionalActor, user_uuid: Uuid });
export const OfUser = z.object({ user_uuid: Uuid });
export const CreateSignInCode = z.object({
  actor: OptionalActor,
  user_uuid: absentWhenEmpty.pipe(Uuid.optional()),
});
export const RecordToken = z.object({ user_uuid: Uuid, token_uuid: Uuid });
/** Longer than any that was made, so that no request makes the service hash a megabyte. */
const Secret = z.string().max(512);
export const OpenSession = z.object({ code: Secret, address: z.string() });
export const OpenProviderSession = z.object({
  issuer: z.string().min(1).max(512),
  subject: z.string().min(1).max(255),
  firm_uuid: Uuid,
  name: Name,
  role: UserRole,
  operator_ids: OptionalOperatorIds,
  address: z.string(),
});
export const RefreshSession = z.object({ secret: Secret });
export const CloseSession = z.object({ secret: Secret, address: z.string() });

/** A uuid; if the action concerned a part that has no uuid, a slash and the name of the part follow. */
const Subject = z.string().transform((text, { addIssue, value }) => {
  const [first = '', ...rest] = text.split('/');
  const uuid = Uuid.safeParse(first);
  if (!uuid.success) {
    addIssue({ code: 'custom', message: 'must be a uuid', input: value });
    return z.NEVER;
  }
  return { uuid: uuid.data, part: rest.length === 0 ? undefined : rest.join('/') };
});

export const ListAudit = z.object({
  firm_uuid: absentWhenEmpty.pipe(Uuid.optional()),
  limit: z.int().min(1).max(MAX_AUDIT_ENTRIES),
  actor: absentWhenEmpty,
  action: absentWhenEmpty,
  subject: absentWhenEmpty.pipe(Subject.optional()),
  from: absentWhenEmpty.pipe(Time.optional()),
  to: absentWhenEmpty.pipe(Time.optional()),
  before_id: absentWhenEmpty.pipe(
    z
      .string()
      .regex(/^\d{1,18}$/)
      .transform(BigInt)
      .optional(),
  ),
  page: z
    .int()
    .min(0)
    .default(0)
    .transform((page) => (page === 0 ? undefined : page)),
});

export const RecordRefusals = z.object({
  refusals: z
    .array(
      z.object({
        uuid: Uuid,
        at: Time,
        action: z.enum(['access.refused', 'authentication.failed']),
        user_uuid: absentWhenEmpty.pipe(Uuid.optional()),
        firm_uuid: absentWhenEmpty.pipe(Uuid.optional()),
        code: z.string().min(1).max(64),
        request_id: z.string().max(128),
        address: z.string().max(128),
      }),
    )
    .max(1000),
});

/** Parses a request. Fault: VALIDATION_ERROR, which names every invalid field. */
export function parse<Request>(schema: z.ZodType<Request>, request: unknown): Request {
  const result = schema.safeParse(request);
  if (result.success) return result.data;
  throw invalidFields(result.error.issues.map(toFieldFault));
}

// The message does not contain the value, because it may be an API key.
function toFieldFault(issue: z.core.$ZodIssue): FieldFault {
  return { field: issue.path.join('.'), code: 'INVALID', message: issue.message };
}
