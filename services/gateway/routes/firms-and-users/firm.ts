import { FirmSettings, isTimeZone, Language, MAX_SEGMENT_TYPES, Redaction } from '@call-analysis/api/access';
import { name } from '@call-analysis/api/fields';
import { notFound } from '@call-analysis/fault';
import type { Storage } from '@call-analysis/proto/ingest/v1/Storage';
import type { Firm } from '@call-analysis/proto/key_management/v1/Firm';
import { z } from 'zod';
import { EVERY_ROLE } from '../../authentication/caller.ts';
import type { Endpoint } from '../../http/endpoint.ts';
import { callerOf, managerOf, servedBy, type Services } from '../rpc-caller.ts';

const PATH = '/api/v1/firm';

const days = z
  .int('must be a whole number of days, or null')
  .min(1, 'must be from 1 to 36500')
  .max(36_500, 'must be from 1 to 36500')
  .nullable();

const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be the IANA name of a time zone, such as Asia/Tashkent')
  .meta({ documentedAs: { type: 'string', examples: ['Asia/Tashkent'] } });

const Change = z
  .strictObject({
    name: name(255).optional(),
    language: Language.optional(),
    time_zone: timeZone.optional().meta({ description: 'An IANA name.' }),
    redaction: Redaction.optional(),
    segment_types: z
      .array(name(255))
      .max(MAX_SEGMENT_TYPES)
      .refine((names) => new Set(names).size === names.length, 'must not name a segment type twice')
      .optional()
      .meta({
        description:
          'All of them, in their order. Calls keep a segment type that is left out; new calls of it are refused.',
      }),
    retention: z
      .strictObject({
        audio_days: days.optional(),
        transcript_days: days.optional(),
        calls_days: days.optional(),
      })
      .optional()
      .meta({ description: 'Null removes a limit. Absent limits stay.' }),
  })
  .meta({ id: 'ChangeFirmRequest', examples: [{ language: 'ru', retention: { audio_days: 90 } }] });

/** docs/api.md, "Firm and users". */
export function firm({ keyManagement, ingest }: Services): Endpoint[] {
  const endpoint = servedBy(keyManagement, { tag: 'Firm and users' });
  return [
    endpoint({
      method: 'GET',
      path: PATH,
      roles: EVERY_ROLE,
      id: 'getFirm',
      summary: "Get the caller's firm",
      responses: { 200: { description: 'The firm with its settings.', schema: FirmSettings } },
      async handle({ caller }) {
        const [{ firm: found }, storage] = await Promise.all([
          keyManagement.findFirm({ firm_uuid: caller.firmUuid }),
          ingest.getStorage({ caller: callerOf(caller) }),
        ]);
        if (found === undefined || found === null) throw notFound('firm');
        return { status: 200, body: firmJson(found, storage) };
      },
    }),
    endpoint({
      method: 'PATCH',
      path: PATH,
      roles: ['ADMIN'],
      body: Change,
      id: 'changeFirm',
      summary: "Change the caller's firm",
      description: 'Absent fields do not change. New settings apply to calls that arrive at least ten seconds later.',
      responses: { 200: { description: 'The firm with its settings.', schema: FirmSettings } },
      async handle({ caller, body: { retention, segment_types, ...change }, address }) {
        // First, so that an answer is not lost after the change.
        const storage = await ingest.getStorage({ caller: callerOf(caller) });
        const changed = await keyManagement.updateFirm({
          actor: managerOf(caller, address),
          firm_uuid: caller.firmUuid,
          ...change,
          ...(segment_types !== undefined && { segment_types: { names: segment_types } }),
          ...(retention !== undefined && { retention: daysOf(retention) }),
        });
        return { status: 200, body: firmJson(changed, storage) };
      },
    }),
  ];
}

/** In a request to key-management, 0 removes a limit. */
function daysOf(retention: Readonly<Record<string, number | null | undefined>>): Record<string, number> {
  const given = Object.entries(retention).filter((each): each is [string, number | null] => each[1] !== undefined);
  return Object.fromEntries(given.map(([limit, days]) => [limit, days ?? 0]));
}

function firmJson(found: Firm, { used_bytes, quota_bytes }: Storage) {
  const { retention, ...firm } = found;
  return {
    ...firm,
    retention: {
      audio_days: retention?.audio_days ?? null,
      transcript_days: retention?.transcript_days ?? null,
      calls_days: retention?.calls_days ?? null,
    },
    storage: { used_bytes, quota_bytes: quota_bytes ?? null },
  };
}
