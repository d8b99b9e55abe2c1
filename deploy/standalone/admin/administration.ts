import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '@call-analysis/fault';
import { ingest as ingestService, keyManagement } from '@call-analysis/proto';
import type { AuditEntry } from '@call-analysis/proto/key_management/v1/AuditEntry';
import { type Client, dial } from '@call-analysis/rpc';
import { StartFault } from '@call-analysis/runtime';
import type { RemoteSettings } from '../config.ts';
import { issueToken } from './issue-token.ts';

/** What the command needs to know of the installation. */
type Installation = Pick<RemoteSettings, 'jwt'> & Partial<Pick<RemoteSettings, 'tls' | 'publicUrl'>>;

/** The admin command's requests to key-management (docs/api.md, "Configuration and commands"). */
export function administration(
  keys: Client<typeof keyManagement>,
  settings: Installation,
  storedSecret: string | undefined,
) {
  return {
    async createFirm(firm: NewFirm) {
      return firmOf(
        await keys.createFirm({
          uuid: firm.uuid ?? '',
          name: firm.name,
          country: firm.country,
          segment_types: firm.segmentTypes,
          language: firm.language ?? '',
          time_zone: firm.timeZone ?? '',
        }),
      );
    },

    /** Also shows the settings of the firm; without a change it does nothing else. */
    async updateFirm(firmUuid: string, change: FirmChange) {
      const { retention, ...settings } = change;
      const days = Object.entries(retention ?? {}).filter(([, value]) => value !== undefined);
      const firm = await keys.updateFirm({
        firm_uuid: firmUuid,
        ...settings,
        ...(days.length > 0 && { retention: Object.fromEntries(days) }),
      });
      return {
        ...firmOf(firm),
        language: firm.language,
        time_zone: firm.time_zone,
        redaction: firm.redaction,
        retention: {
          audio_days: firm.retention?.audio_days ?? null,
          transcript_days: firm.retention?.transcript_days ?? null,
          calls_days: firm.retention?.calls_days ?? null,
        },
      };
    },

    /**
     * Removes a firm and waits for the services, at most `waitMs`. `confirmation` is its name. Repeated, it shows the
     * receipt.
     */
    async removeFirm(firmUuid: string, confirmation: string, waitMs: number) {
      const until = Date.now() + waitMs;
      for (;;) {
        const removal = await keys.removeFirm({ firm_uuid: firmUuid, confirmation });
        if (removal.finished_at === undefined && Date.now() < until) {
          await pause(REMOVAL_POLL_MS);
          continue;
        }
        const { removed_at, finished_at = null, removed, unfinished } = removal;
        return { firm_uuid: removal.firm_uuid, removed_at, finished_at, removed, waiting_for: unfinished };
      }
    },

    async listFirms() {
      return (await keys.listFirms({})).firms.map(firmOf);
    },

    async addSegmentType(firmUuid: string, name: string) {
      const firm = await keys.addSegmentType({ firm_uuid: firmUuid, name });
      return { firm_uuid: firm.uuid, segment_types: firm.segment_types };
    },

    async createUser(user: { firm: string; name: string; role: string; operatorIds?: readonly string[] }) {
      const { firm: firm_uuid, name, role, operatorIds = [] } = user;
      return userOf(await keys.createUser({ firm_uuid, name, role, operator_ids: [...operatorIds] }));
    },

    async listUsers(firmUuid: string) {
      return (await keys.listUsers({ firm_uuid: firmUuid })).users.map(userOf);
    },

    async removeUser(userUuid: string) {
      const { user, removed_at } = await keys.removeUser({ user_uuid: userUuid });
      if (user === null) throw new Error('key-management answered without the user.');
      return { ...userOf(user), removed_at };
    },

    async issueToken(userUuid: string, ttlMs: number) {
      const { user: found } = await keys.findUser({ user_uuid: userUuid });
      if (found === undefined || found === null)
        throw new StartFault(`There is no user ${userUuid}. "user list" shows a firm's users.`);
      const tokenUuid = randomUUID();
      const issued = await issueToken(settings.jwt, storedSecret, found, ttlMs, tokenUuid);
      // Shown only once it is in the audit log.
      await keys.recordToken({ user_uuid: userUuid, token_uuid: tokenUuid });
      return issued;
    },

    async revokeTokens(userUuid: string) {
      const { user, revoked_before } = await keys.revokeTokens({ user_uuid: userUuid });
      return { user_uuid: user?.uuid ?? userUuid, revoked_before };
    },

    /**
     * A link that signs a user in once. Without a user, the installation's first SUPERUSER; null when there is none.
     */
    async signInLink(userUuid: string | null, serviceUrl: string) {
      try {
        const { code, expires_at, user_uuid } = await keys.createSignInCode({ user_uuid: userUuid ?? '' });
        const base = (settings.publicUrl ?? serviceUrl).replace(/\/+$/, '');
        return { link: `${base}/console/#code=${code}`, expires_at, user_uuid };
      } catch (error) {
        if (userUuid === null && error instanceof Fault && error.kind === 'not-found') return null;
        throw error;
      }
    },

    /** The newest entries, in pages, so that any number of them needs little memory. */
    async *listAudit(filter: AuditFilter, limit: number) {
      let before_id = '';
      for (let left = limit; left > 0;) {
        const size = Math.min(left, AUDIT_PAGE);
        const { entries } = await keys.listAudit({ ...filter, limit: size, before_id });
        yield* entries.map(auditEntryOf);
        left -= entries.length;
        before_id = entries.at(-1)?.id ?? '';
        if (entries.length < size) return;
      }
    },
  };
}

interface NewFirm {
  readonly uuid?: string;
  readonly name: string;
  readonly country: string;
  readonly segmentTypes: string[];
  readonly language?: string;
  readonly timeZone?: string;
}

/** A number of days of 0 removes the limit. */
interface FirmChange {
  readonly language?: string;
  readonly time_zone?: string;
  readonly redaction?: string;
  readonly retention?: { readonly [Name in 'audio_days' | 'transcript_days' | 'calls_days']?: number | undefined };
}

export interface AuditFilter {
  readonly firm_uuid?: string;
  readonly actor?: string;
  readonly action?: string;
  readonly subject?: string;
  readonly from?: string;
  readonly to?: string;
}

const AUDIT_PAGE = 1000;
const REMOVAL_POLL_MS = 200;

function auditEntryOf(entry: AuditEntry) {
  return {
    at: entry.at,
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    request_id: entry.request_id,
    address: entry.address,
    ...(entry.code !== undefined && { code: entry.code }),
  };
}

export type Administration = ReturnType<typeof administration> & {
  /** Only key-management runs, started for the command. */
  readonly isAlone?: boolean;
};

export function dialAdministration(address: string, settings: Installation, storedSecret: string | undefined) {
  const keys = dial(keyManagement, address, { name: 'key-management', deadlineMs: 15_000, tls: settings.tls });
  return { ...administration(keys, settings, storedSecret), ready: () => keys.ready(), close: () => keys.close() };
}

/** The admin command's requests to ingest. */
export function dialCalls(address: string, tls: RemoteSettings['tls']) {
  const ingest = dial(ingestService, address, { name: 'ingest', deadlineMs: 60_000, tls });
  return {
    /** Starts a new attempt of a firm's calls that failed with this code; returns their number. */
    async retryFailed(firmUuid: string, code: string): Promise<number> {
      let retried = 0;
      let after: string | undefined;
      do {
        const page = await ingest.retryFailedCalls({ firm_uuid: firmUuid, code, after });
        retried += page.retried;
        after = page.next;
      } while (after !== undefined);
      return retried;
    },
    ready: () => ingest.ready(),
    close: () => ingest.close(),
  };
}

export type CallAdministration = Omit<ReturnType<typeof dialCalls>, 'ready' | 'close'>;

function firmOf(firm: { uuid: string; name: string; country: string; segment_types: string[] }) {
  return { uuid: firm.uuid, name: firm.name, country: firm.country, segment_types: firm.segment_types };
}

/** Operator ids of those who have some: the command's answers do not change for others. */
function userOf(user: { uuid: string; firm_uuid: string; name: string; role: string; operator_ids: string[] }) {
  const { uuid, firm_uuid, name, role, operator_ids } = user;
  return { uuid, firm_uuid, name, role, ...(operator_ids.length > 0 && { operator_ids }) };
}
