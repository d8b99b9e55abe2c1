/** Line icons of 16 by 16. */
const PATHS = {
  calls: 'M3 4.5h10M3 8h10M3 11.5h6',
  dashboard: 'M2.5 13.5h11M4.5 11V7.5M8 11V3.5M11.5 11V6',
  review: 'M2.5 8.5l3.5 3.5 7.5-8',
  upload: 'M8 10.5V2.5M4.8 5.5L8 2.4l3.2 3.1M2.5 10.5v3h11v-3',
  scorecards: 'M3.5 2.5h9v11h-9zM6 6h4M6 8.5h4M6 11h2',
  settings: 'M2.5 4.5h6m3 0h2M2.5 11.5h2m3 0h6M10 3v3M6 10v3',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'M4 4l8 8M12 4l-8 8',
  exit: 'M9.5 3.5h-6v9h6M7 8h7M11.5 5.5L14 8l-2.5 2.5',
  globe:
    'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM2 8h12M8 2c2 1.8 2.6 3.8 2.6 6S10 12.2 8 14c-2-1.8-2.6-3.8-2.6-6S6 3.8 8 2z',
  contrast: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12M8 5h5M8 8h6M8 11h5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3L14 14',
  down: 'M4 6.2l4 4 4-4',
  right: 'M6.2 4l4 4-4 4',
  left: 'M9.8 4l-4 4 4 4',
  plus: 'M8 3v10M3 8h10',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  columns: 'M2.5 3h11v10h-11zM6.2 3v10M9.9 3v10',
  star: 'M8 2.3l1.8 3.7 4 .6-2.9 2.8.7 4L8 11.5l-3.6 1.9.7-4L2.2 6.6l4-.6z',
  play: 'M5 3.2v9.6L12.5 8z',
  back5: 'M7 4L3.5 7 7 10M3.5 7h5.2a3.3 3.3 0 0 1 0 6.5H6',
  forward5: 'M9 4l3.5 3L9 10M12.5 7H7.3a3.3 3.3 0 0 0 0 6.5H10',
  print: 'M4.5 6V2.5h7V6M4.5 11.5h-2V6h11v5.5h-2M4.5 9.5h7v4h-7z',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.8h-2.8',
  trash: 'M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9',
  download: 'M8 2.5v8M4.8 7.5L8 10.6l3.2-3.1M2.5 13.5h11',
  swap: 'M3 5.5h9.5M10 3l2.5 2.5L10 8M13 10.5H3.5M6 8l-2.5 2.5L6 13',
  person: 'M8 2.5a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM3 13.5c.4-2.6 2.4-4 5-4s4.6 1.4 5 4',
  inbox: 'M2.5 8.5l2-5.5h7l2 5.5v4.5h-11zM2.5 8.5h3.5l1 2h2l1-2h3.5',
  comment: 'M2.5 3h11v8h-6l-3 2.5V11h-2z',
  flag: 'M4 14V2.5h8.5L10.5 5.5l2 3H4',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  check: 'M3 8.5l3.2 3.2L13 4.5',
  text: 'M3 4h10M3 8h7M3 12h9',
  help: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6.3 6.4a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.8.6-.8 1.2M8 11.3h.01',
} as const;

export type IconName = keyof typeof PATHS;

/** Decorative: the text beside it says the same. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className="icon"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1d5bbf" />
      <path
        d="M7 16h2m3-5v10m4-14v18m4-14v10m4-6v2"
        stroke="#fff"
        strokeWidth="2.6"
        strokeLinecap="round"
        fill="none"
      />
    </svg>
  );
}
