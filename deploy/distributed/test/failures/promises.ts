/** The links that may fail. `services` are all services with the part, `others` are those that are not named. */
export const EDGES = [
  'client → gateway',
  'client → store',
  'gateway → key-management',
  'gateway → ingest',
  'gateway → audio',
  'gateway → analysis',
  'audio → ingest',
  'ingest → key-management',
  'key-management → database',
  'ingest → database',
  'others → database',
  'services → store',
  'services → kafka',
] as const;
export type Edge = (typeof EDGES)[number];

export const FAULTS = ['refused', 'black hole', 'reset', 'slow', 'narrow', 'half-open', 'no name'] as const;
export type Fault = (typeof FAULTS)[number];

export const faults: Readonly<Record<Fault, string>> = {
  refused: 'open connections are reset, new ones refused',
  'black hole': 'connections stay, and no byte passes either way',
  reset: 'every connection is reset 100 ms after its first byte',
  slow: 'every response comes 2 s later',
  narrow: '1 KB a second',
  'half-open': 'requests arrive, responses do not come back',
  'no name': 'the name cannot be resolved, and open connections are reset',
};

/** The requests of the tests. */
export const REQUESTS = ['list', 'put', 'process', 'audio', 'scorecards'] as const;
export type Request = (typeof REQUESTS)[number];

export const requests: Readonly<Record<Request, string>> = {
  list: '`GET /calls`',
  put: '`PUT` to a presigned URL',
  process: '`POST /calls/process-upload`',
  audio: '`POST /audio/upload`',
  scorecards: '`GET /scorecards`',
};

/** How a request ends. `no answer`: its connection fails, or no response comes until the client gives up. */
export type Ending = '200' | '503' | 'no answer';

export interface Answer {
  readonly endings: readonly Ending[];
  /** The longest time until the response. Undefined: as long as the client waits. */
  readonly withinS?: number;
}

interface EdgePromise {
  readonly edge: Edge;
  /** The requests that use the link. Other requests are not affected. */
  readonly answers: Partial<Record<Request, Readonly<Partial<Record<Fault, Answer>>>>>;
  /** After the link works again: until such a request succeeds, and until a new batch is completed. */
  readonly backS: number;
  readonly completedS: number;
  readonly why: string;
}

const ok = (withinS: number): Answer => ({ endings: ['200'], withinS });
const away = (withinS: number): Answer => ({ endings: ['503'], withinS });
const either = (withinS: number): Answer => ({ endings: ['200', '503'], withinS });
const none: Answer = { endings: ['no answer'] };

const UNNAMED_CLIENT = {
  refused: none,
  'black hole': none,
  reset: none,
  slow: ok(6),
  narrow: ok(10),
  'half-open': none,
};

/** The bound for what takes milliseconds on an idle machine. */
const SOON_S = 5;

const ALWAYS = Object.fromEntries(FAULTS.map((fault) => [fault, ok(SOON_S)]));
/** Of requests that a service passes on to another, or to its database. */
const DEADLINE_OF_10_S = {
  refused: away(SOON_S),
  'black hole': away(11),
  reset: either(SOON_S),
  slow: ok(8),
  narrow: either(11),
  'half-open': away(11),
  'no name': either(SOON_S),
};
const DATABASE_AWAY = {
  refused: away(SOON_S),
  'black hole': away(11),
  reset: either(SOON_S),
  slow: either(11),
  narrow: either(11),
  'half-open': away(11),
  'no name': away(SOON_S),
};

/** The promises for each link, in seconds. failures.distributed.test.ts checks them. */
export const edgePromises: readonly EdgePromise[] = [
  {
    edge: 'client → gateway',
    answers: { list: UNNAMED_CLIENT },
    backS: SOON_S,
    completedS: 10,
    why: 'Every request may be repeated unchanged; nothing is done twice.',
  },
  {
    edge: 'client → store',
    answers: { put: UNNAMED_CLIENT },
    backS: SOON_S,
    completedS: 10,
    why: 'The same URL accepts the file again within its hour.',
  },
  {
    edge: 'gateway → key-management',
    answers: {
      list: {
        refused: away(SOON_S),
        'black hole': away(SOON_S),
        reset: either(SOON_S),
        slow: ok(8),
        narrow: either(SOON_S),
        'half-open': away(SOON_S),
        'no name': either(SOON_S),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'The gateway accepts callers that it has authenticated within the last 5 s. It cannot authenticate others, and refuses them.',
  },
  {
    edge: 'gateway → ingest',
    answers: {
      list: DEADLINE_OF_10_S,
      process: {
        refused: away(SOON_S),
        'black hole': away(15),
        reset: either(15),
        slow: ok(10),
        narrow: either(15),
        'half-open': either(15),
        'no name': either(SOON_S),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'Reads have a deadline of 10 s. Longer requests end when the connection is found dead, which takes 10 s.',
  },
  {
    edge: 'gateway → audio',
    answers: {
      audio: {
        refused: away(SOON_S),
        'black hole': away(15),
        reset: either(15),
        slow: ok(10),
        narrow: either(35),
        'half-open': either(15),
        'no name': either(SOON_S),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'An upload takes as long as the client needs to send it. A dead connection is found within 10 s.',
  },
  {
    edge: 'gateway → analysis',
    answers: {
      scorecards: DEADLINE_OF_10_S,
    },
    backS: SOON_S,
    completedS: 10,
    why: 'Calls are still analyzed: their transcripts do not use this link.',
  },
  {
    edge: 'audio → ingest',
    answers: {
      audio: {
        refused: away(10),
        'black hole': away(35),
        reset: either(15),
        slow: ok(12),
        narrow: either(35),
        'half-open': either(35),
        'no name': either(10),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'Registering the call is tried up to three times, 10 s each. After a failure it may be registered or not; repeating the upload is safe.',
  },
  {
    edge: 'ingest → key-management',
    answers: {
      process: {
        refused: either(SOON_S),
        'black hole': either(11),
        reset: either(SOON_S),
        slow: ok(10),
        narrow: either(11),
        'half-open': either(11),
        'no name': either(SOON_S),
      },
      audio: {
        refused: either(10),
        'black hole': either(35),
        reset: either(15),
        slow: ok(12),
        narrow: either(35),
        'half-open': either(35),
        'no name': either(10),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'New uploads are refused: each upload needs the settings of the firm, with a deadline of 5 s. What was accepted goes on by the last known settings for five minutes, and then waits.',
  },
  {
    edge: 'key-management → database',
    answers: {
      list: {
        refused: away(SOON_S),
        'black hole': away(SOON_S),
        reset: either(SOON_S),
        slow: either(SOON_S),
        narrow: either(SOON_S),
        'half-open': away(SOON_S),
        'no name': away(SOON_S),
      },
    },
    backS: SOON_S,
    completedS: 10,
    why: 'As if key-management were not running.',
  },
  {
    edge: 'ingest → database',
    answers: {
      list: DATABASE_AWAY,
      process: {
        refused: away(SOON_S),
        'black hole': away(45),
        reset: either(SOON_S),
        slow: either(60),
        narrow: either(60),
        'half-open': away(45),
        'no name': away(SOON_S),
      },
      audio: {
        refused: away(10),
        'black hole': away(35),
        reset: either(10),
        slow: either(35),
        narrow: either(35),
        'half-open': away(35),
        'no name': away(10),
      },
    },
    backS: 10,
    completedS: 30,
    why: 'A silent connection is given up when the server does not answer on another connection either, within 15 s.',
  },
  {
    edge: 'others → database',
    answers: {
      list: ALWAYS,
      process: ALWAYS,
      scorecards: DATABASE_AWAY,
    },
    backS: 10,
    completedS: 60,
    why: 'Calls are accepted. Their events wait for the service that has no database.',
  },
  {
    edge: 'services → store',
    answers: {
      list: ALWAYS,
      process: {
        refused: away(15),
        'black hole': away(75),
        reset: either(15),
        slow: ok(30),
        narrow: either(60),
        'half-open': away(75),
        'no name': away(15),
      },
      audio: {
        refused: away(15),
        'black hole': away(100),
        reset: either(15),
        slow: ok(30),
        narrow: either(100),
        'half-open': away(100),
        'no name': away(15),
      },
    },
    backS: 10,
    completedS: 20,
    why: 'Large objects may take long, so a request to the store fails only after 30 s without a byte. On an open connection that has become silent, it is retried once, for another 30 s.',
  },
  {
    edge: 'services → kafka',
    answers: { list: ALWAYS, process: ALWAYS, audio: ALWAYS },
    backS: SOON_S,
    completedS: 60,
    why: 'Events wait in the outboxes, and `/readyz` reports `degraded`. Consumer groups rejoin within half a minute.',
  },
];

const KILLED = [
  'gateway',
  'key-management',
  'ingest',
  'audio',
  'transcription',
  'analysis',
  'Kafka',
  'the store',
  'PostgreSQL',
] as const;
export type Killed = (typeof KILLED)[number];

interface KillPromise {
  readonly killed: Killed;
  /** While it is not running, and until `backS` after its restart. */
  readonly answers: Partial<Record<Request, Answer>>;
  readonly backS: number;
  readonly completedS: number;
}

/** The promises for a process that is killed (SIGKILL) and restarted. */
export const killPromises: readonly KillPromise[] = [
  { killed: 'gateway', answers: { list: { endings: ['no answer'] } }, backS: SOON_S, completedS: 10 },
  { killed: 'key-management', answers: { list: away(SOON_S) }, backS: SOON_S, completedS: 10 },
  {
    killed: 'ingest',
    answers: { list: away(SOON_S), process: away(SOON_S), scorecards: ok(SOON_S) },
    backS: SOON_S,
    completedS: 90,
  },
  { killed: 'audio', answers: { list: ok(SOON_S), audio: away(SOON_S) }, backS: SOON_S, completedS: 10 },
  {
    killed: 'transcription',
    answers: { list: ok(SOON_S), process: ok(SOON_S), audio: ok(SOON_S) },
    backS: SOON_S,
    completedS: 10,
  },
  {
    killed: 'analysis',
    answers: { list: ok(SOON_S), process: ok(SOON_S), scorecards: away(SOON_S) },
    backS: SOON_S,
    completedS: 90,
  },
  {
    killed: 'Kafka',
    answers: { list: ok(SOON_S), process: ok(SOON_S), audio: ok(SOON_S) },
    backS: SOON_S,
    completedS: 90,
  },
  {
    killed: 'the store',
    answers: { list: ok(SOON_S), process: away(15), audio: away(15) },
    backS: SOON_S,
    completedS: 10,
  },
  {
    killed: 'PostgreSQL',
    answers: { list: away(SOON_S), process: away(SOON_S), audio: away(10) },
    backS: 10,
    completedS: 30,
  },
];
