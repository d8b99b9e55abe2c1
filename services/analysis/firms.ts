import { Language } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import { dial, type DialOptions } from '@call-analysis/rpc';
import { z } from 'zod';

/** How a firm wants its calls analyzed. A key-management of an older version does not say. */
const FirmSettings = z.object({
  /** Empty when unknown. */
  name: z.string().catch(''),
  language: Language.catch('en'),
  /** A word that this version does not know is no reason to send personal data. */
  redaction: z
    .preprocess((text) => (text === undefined || text === '' ? 'none' : text), z.enum(['none', 'for_model', 'stored']))
    .catch('stored'),
});
export type FirmSettings = z.infer<typeof FirmSettings>;
/** Of a firm that key-management does not have: it is being removed. */
const UNKNOWN_FIRM = { redaction: 'stored' };

/** A changed setting counts after this long. Calls are analyzed many times faster than firms change. */
const REMEMBER_MS = 10_000;
const MOST_REMEMBERED = 10_000;

/** Asks key-management, which owns the firms. Segment types are not cached: a new one counts immediately. */
export function dialFirms(address: string, options: Pick<DialOptions, 'tls' | 'log'> = {}) {
  const client = dial(keyManagement, address, { ...options, name: 'key-management', deadlineMs: 5_000 });
  const remembered = new Map<string, { settings: FirmSettings; until: number }>();
  return {
    /**
     * While key-management is away, the last known settings count. Fault UNAVAILABLE when none are known: personal data is
     * not sent, nor anything written in a language, on a guess.
     */
    async settings(firmUuid: string): Promise<FirmSettings> {
      const known = remembered.get(firmUuid);
      if (known !== undefined && performance.now() < known.until) return known.settings;
      let settings: FirmSettings;
      try {
        const { firm } = await client.findFirm({ firm_uuid: firmUuid });
        settings = FirmSettings.parse(firm ?? UNKNOWN_FIRM);
      } catch (error) {
        if (known === undefined) {
          const message = 'The settings of the firm are unknown while key-management does not answer.';
          throw new Fault('unavailable', 'UNAVAILABLE', message, { cause: error });
        }
        settings = known.settings;
      }
      if (remembered.size >= MOST_REMEMBERED) remembered.clear();
      remembered.set(firmUuid, { settings, until: performance.now() + REMEMBER_MS });
      return settings;
    },
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
export type Firms = Pick<ReturnType<typeof dialFirms>, 'segmentTypes' | 'settings'>;
