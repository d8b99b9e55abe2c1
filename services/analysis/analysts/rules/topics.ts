/** The topics of calls. The order breaks ties. The names are stable, because clients filter by them. */
export const TOPICS = [
  'refund',
  'cancellation',
  'complaint',
  'delivery',
  'order',
  'billing',
  'payment',
  'loan',
  'card',
  'account',
  'transfer',
  'insurance',
  'fraud',
  'internet',
  'mobile',
  'technical',
  'appointment',
  'price',
  'product',
  'documents',
  'travel',
  'employment',
  'health',
  'utilities',
  'safety',
  'lost_property',
] as const;
export type Topic = (typeof TOPICS)[number];

const MAX_TOPICS = 5;

/**
 * At most five topics, the most mentioned first. `mentions` has a count for each of TOPICS. A topic is left out when
 * another is mentioned at least four times as often.
 */
export function rankTopics(mentions: ArrayLike<number>): Topic[] {
  const counted = TOPICS.map((topic, index) => ({ topic, count: mentions[index] ?? 0 }));
  const most = Math.max(...counted.map(({ count }) => count));
  return counted
    .filter(({ count }) => count > 0 && count * 4 > most)
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_TOPICS)
    .map(({ topic }) => topic);
}
