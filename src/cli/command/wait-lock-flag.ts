import type { Flag } from './flag.ts'

/** Flag of commands that apply files. */
export const waitLockFlag = {
  name: 'wait-lock',
  kind: 'text',
  placeholder: 'duration',
  summary: 'Time to wait while another apply to the same academy runs; 0 does not wait',
  default: '30s',
} as const satisfies Flag
