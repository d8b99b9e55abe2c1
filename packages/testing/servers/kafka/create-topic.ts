import type { Admin, ITopicConfig } from 'kafkajs';
import { waitUntil } from '../../wait-until.ts';

/** Resolves when the brokers know the topic. kafkajs by itself fails when a broker does not know a new topic yet. */
export async function makeTopic(admin: Admin, topic: ITopicConfig): Promise<void> {
  await admin.createTopics({ topics: [topic], waitForLeaders: false });
  await waitUntil(async () => (await admin.listTopics()).includes(topic.topic));
}
