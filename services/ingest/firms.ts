import { Fault, notFound } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import type { Firm as FirmMessage } from '@call-analysis/proto/key_management/v1/Firm';
import { dial, type DialOptions } from '@call-analysis/rpc';
import type { FirmRetention } from './retention/apply-retention.ts';

export interface Firm {
  readonly uuid: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  readonly segmentTypes: ReadonlySet<string>;
  /** IANA name; absent means UTC. */
  readonly timeZone?: string;
  /** `none`, `for_model` or `stored`; absent means `none`. */
  readonly redaction?: string;
}

const REMEMBER_MS = 10_000;
const MOST_REMEMBERED = 10_000;

/**
 * A client of key-management, which owns the firms. Answers are not cached, so a new segment type is valid immediately.
 */
export function dialFirms(address: string, options: Pick<DialOptions, 'tls' | 'log'> = {}) {
  const client = dial(keyManagement, address, { ...options, name: 'key-management', deadlineMs: 5_000 });
  /** The last known answers, for use while key-management does not respond. */
  const redacting = new Map<string, { value: boolean; until: number }>();
  return {
    /**
     * Whether personal data is replaced in what is stored of the firm's recordings. A changed setting counts after ten
     * seconds. Fault UNAVAILABLE when it is not known: text that should not be stored could not be taken back.
     */
    async redactsStored(firmUuid: string): Promise<boolean> {
      const known = redacting.get(firmUuid);
      if (known !== undefined && performance.now() < known.until) return known.value;
      try {
        const { firm } = await client.findFirm({ firm_uuid: firmUuid });
        const value = firm?.redaction === 'stored';
        if (redacting.size >= MOST_REMEMBERED) redacting.clear();
        redacting.set(firmUuid, { value, until: performance.now() + REMEMBER_MS });
        return value;
      } catch (error) {
        if (known !== undefined) return known.value;
        const message = 'The settings of the firm cannot be read now. Retry.';
        throw new Fault('unavailable', 'UNAVAILABLE', message, { cause: error });
      }
    },
    async listRetention(): Promise<FirmRetention[]> {
      const { firms } = await client.listFirms({});
      return firms
        .map(retentionOf)
        .filter((each) => each.audioDays !== null || each.transcriptDays !== null || each.callsDays !== null);
    },
    async findRetention(firmUuid: string): Promise<FirmRetention | null> {
      const { firm } = await client.findFirm({ firm_uuid: firmUuid });
      return firm === undefined || firm === null ? null : retentionOf(firm);
    },
    async find(firmUuid: string): Promise<Firm> {
      const { firm } = await client.findFirm({ firm_uuid: firmUuid });
      if (firm === undefined || firm === null) throw notFound('firm');
      return {
        uuid: firm.uuid,
        country: firm.country,
        segmentTypes: new Set(firm.segment_types),
        timeZone: firm.time_zone,
        redaction: firm.redaction,
      };
    },
    ready: () => client.ready(),
    close: () => client.close(),
  };
}

function retentionOf({ uuid, time_zone, retention }: FirmMessage): FirmRetention {
  return {
    firmUuid: uuid,
    timeZone: time_zone,
    audioDays: retention?.audio_days ?? null,
    transcriptDays: retention?.transcript_days ?? null,
    callsDays: retention?.calls_days ?? null,
  };
}

/** The part that use cases need. */
export type Firms = Pick<ReturnType<typeof dialFirms>, 'find' | 'redactsStored' | 'close'>;
