import { notFound } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import { dial, type DialOptions } from '@call-analysis/rpc';

export interface Firm {
  readonly uuid: string;
  /** ISO 3166-1 alpha-2, upper case. */
  readonly country: string;
  readonly segmentTypes: ReadonlySet<string>;
  /** IANA name; absent means UTC. */
  readonly timeZone?: string;
}

/** A client of key-management, which owns the firms. Answers are not cached, so a new segment type is valid immediately. */
export function dialFirms(address: string, options: Pick<DialOptions, 'tls' | 'log'> = {}) {
  const client = dial(keyManagement, address, { ...options, name: 'key-management', deadlineMs: 5_000 });
  return {
    async find(firmUuid: string): Promise<Firm> {
      const { firm } = await client.findFirm({ firm_uuid: firmUuid });
      if (firm === undefined || firm === null) throw notFound('firm');
      return {
        uuid: firm.uuid,
        country: firm.country,
        segmentTypes: new Set(firm.segment_types),
        timeZone: firm.time_zone,
      };
    },
    ready: () => client.ready(),
    close: () => client.close(),
  };
}

/** The part that use cases need. */
export type Firms = Pick<ReturnType<typeof dialFirms>, 'find' | 'close'>;
