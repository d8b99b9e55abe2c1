/** Which calls of the queue a person wants, as in the address. `rule`: the sampling rule that has chosen them. */
export const QUEUE_FILTERS = ['segment', 'operator', 'score', 'rule'] as const;
