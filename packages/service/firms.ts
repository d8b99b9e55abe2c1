import { Language, Redaction } from '@call-analysis/events';
import { Fault, notFound } from '@call-analysis/fault';
import { keyManagement } from '@call-analysis/proto';
import { dial, type DialOptions } from '@call-analysis/rpc';
import { z } from 'zod';

const Days = z.int().nullish();

/** A firm as key-management has it. One of an older version does not say everything. */
const Firm = z
  .object({
    uuid: z.string(),
    /** Empty when unknown. */
    name: z.string().catch(''),
    /** ISO 3166-1 alpha-2, upper case. */
    country: z.string().catch(''),
    segment_types: z.array(z.string()),
    language: Language.catch('en'),
    /** An IANA name. */
    time_zone: z.string().min(1).catch('UTC'),
    /** A word that this version does not know is no reason to store or send personal data. */
    redaction: z.preprocess((text) => (text === undefined || text === '' ? 'none' : text), Redaction).catch('stored'),
    retention: z.object({ audio_days: Days, transcript_days: Days, calls_days: Days }).nullish(),
  })
  .transform(({ segment_types, time_zone, retention, ...firm }) => ({
    ...firm,
    segmentTypes: new Set(segment_types),
    timeZone: time_zone,
    audioDays: retention?.audio_days ?? null,
    transcriptDays: retention?.transcript_days ?? null,
    callsDays: retention?.calls_days ?? null,
  }));
export type Firm = z.infer<typeof Firm>;

/** How the transcripts of a firm are treated. */
export type FirmSettings = Pick<Firm, 'name' | 'language' | 'redaction'>;

/** Of a firm that key-management does not have: it is being removed. */
const UNKNOWN_FIRM: FirmSettings = { name: '', language: 'en', redaction: 'stored' };

/** A changed setting counts after this long. Calls are processed many times faster than firms change. */
const REMEMBER_MS = 10_000;
/** For how long settings count that could not be confirmed meanwhile: a restart or an upgrade of key-management delays nothing. */
const TRUST_MS = 300_000;
const MOST_REMEMBERED = 10_000;

interface Remembered {
  readonly settings: FirmSettings;
  readonly confirmedAt: number;
  readonly askAgainAt: number;
}

/** The client of key-management, which owns the firms. `now` is a clock in milliseconds. */
export function dialFirms(
  address: string,
  options: Pick<DialOptions, 'tls' | 'log'> = {},
  now: () => number = () => performance.now(),
) {
  const client = dial(keyManagement, address, { ...options, name: 'key-management', deadlineMs: 5_000 });
  const remembered = new Map<string, Remembered>();
  /** A batch asks for the same firm hundreds of times at once. */
  const asking = new Map<string, Promise<FirmSettings>>();
  /** Null for a firm that does not exist. */
  const ask = async (firmUuid: string): Promise<Firm | null> => {
    const { firm } = await client.findFirm({ firm_uuid: firmUuid });
    return firm === undefined || firm === null ? null : Firm.parse(firm);
  };
  async function confirmed(firmUuid: string, known: Remembered | undefined): Promise<FirmSettings> {
    let next: Remembered;
    try {
      const { name, language, redaction } = (await ask(firmUuid)) ?? UNKNOWN_FIRM;
      next = { settings: { name, language, redaction }, confirmedAt: now(), askAgainAt: now() + REMEMBER_MS };
    } catch (cause) {
      if (known === undefined || now() - known.confirmedAt >= TRUST_MS) {
        const message = 'The settings of the firm are unknown while key-management does not answer.';
        throw new Fault('unavailable', 'UNAVAILABLE', message, { cause });
      }
      next = { ...known, askAgainAt: Math.min(now() + REMEMBER_MS, known.confirmedAt + TRUST_MS) };
    }
    if (remembered.size >= MOST_REMEMBERED) remembered.clear();
    remembered.set(firmUuid, next);
    return next.settings;
  }
  return {
    /**
     * A changed setting counts after ten seconds. While key-management is away, the last known settings count for five
     * minutes. Then, and where none are known, Fault UNAVAILABLE: on a guess personal data is neither sent nor stored, nor
     * anything written in a language.
     */
    async settings(firmUuid: string): Promise<FirmSettings> {
      const known = remembered.get(firmUuid);
      if (known !== undefined && now() < known.askAgainAt) return known.settings;
      let asked = asking.get(firmUuid);
      if (asked === undefined) {
        asked = confirmed(firmUuid, known).finally(() => asking.delete(firmUuid));
        asking.set(firmUuid, asked);
      }
      return asked;
    },
    /** As it is at the moment: a new segment type is valid immediately. Fault NOT_FOUND. */
    async find(firmUuid: string): Promise<Firm> {
      const firm = await ask(firmUuid);
      if (firm === null) throw notFound('firm');
      return firm;
    },
    async list(): Promise<Firm[]> {
      const { firms } = await client.listFirms({});
      return firms.map((each) => Firm.parse(each));
    },
    ready: () => client.ready(),
    close: () => client.close(),
  };
}

export type FirmsClient = ReturnType<typeof dialFirms>;
/** The part that use cases call. */
export type Firms = Pick<FirmsClient, 'find' | 'settings'>;
