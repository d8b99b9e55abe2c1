/** The most that a list shows at once. */
export const PAGE_SIZE = 100;

interface Page<Item> {
  readonly count: number;
  readonly items: readonly Item[];
}

/** All items of a list that is short enough to be read as a whole, page by page. */
export async function allPages<Item>(
  fetchPage: (query: { page: number; size: number }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let page = 1; ; page++) {
    const found = await fetchPage({ page, size: PAGE_SIZE });
    items.push(...found.items);
    if (found.items.length === 0 || page * PAGE_SIZE >= found.count) return items;
  }
}
