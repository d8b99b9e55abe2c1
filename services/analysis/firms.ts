import { notFound } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import { dial, type DialOptions } from '@call-analysis/rpc';

/** Asks key-management, which owns the firms. Nothing is cached: a new segment type counts immediately. */
export function dialFirms(address: string, options: Pick<DialOptions, 'tls' | 'log'> = {}) {
  const client = dial(keyManagement, address, { ...options, name: 'key-management', deadlineMs: 5_000 });
  return {
    /** Fault: NOT_FOUND. */
    async segmentTypes(firmUuid: string): Promise<ReadonlySet<string>> {
      const { firm } = await client.findFirm({ firm_uuid: firmUuid });
      if (firm === undefined || firm === null) throw notFound('firm');
      return new Set(firm.segment_types);
    },
    ready: () => client.ready(),
    close: () => client.close(),
  };
}

/** The part that use cases call. */
export type Firms = Pick<ReturnType<typeof dialFirms>, 'segmentTypes'>;
