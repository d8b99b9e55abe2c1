// The values of fields that .proto files declare as strings. The service accepts them, and the gateway documents them.

/** `sort` of GetStatistics: the numbers that groups can be sorted by. */
export const SORTABLE_NUMBERS = [
  'calls',
  'scored',
  'average',
  'p10',
  'p50',
  'p90',
  'auto_failed',
  'needs_review',
  'reviewed',
  'duration_average',
  'talk_ratio_operator',
  'silence_ratio',
  'interruptions_average',
  'sentiment_client',
  'points_ratio',
] as const;

/** `events` of a webhook: the types of events that a firm can subscribe to. */
export const WEBHOOK_EVENTS = [
  'call.completed',
  'call.failed',
  'call.reviewed',
  'call.erased',
  'batch.finished',
  'campaign.finished',
  'budget.spent',
  'webhook.test',
] as const;

/**
 * `review_status` of a list of calls, of which each call has one: there is no review; it was begun; it is done; somebody has read
 * it; a dispute is open, whatever else.
 */
export const REVIEW_STATUSES = ['none', 'open', 'done', 'acknowledged', 'disputed'] as const;

/** `role` of a user. */
export const ROLES = ['SUPERUSER', 'WORKFLOW_ENGINEER', 'ADMIN', 'REVIEWER', 'OPERATOR'] as const;

/** How many `operator_ids` a user has at most, and how many characters each. */
export const MAX_OPERATOR_IDS = 100;
export const MAX_OPERATOR_ID_CHARS = 255;
