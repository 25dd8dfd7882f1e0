import type { Flag } from './flag.ts'

/** The time zone in which a command understands days. Every command that takes a time has it. */
export const timeZoneFlag: Flag = {
  name: 'timezone',
  kind: 'text',
  placeholder: 'zone',
  summary: 'Time zone for days and durations, such as Europe/Berlin (default UTC)',
}

/** Flags, and the one that says in which time zone their times are, where there are any. */
export function withTimeZone(flags: readonly Flag[]): readonly Flag[] {
  return flags.some(({ kind }) => kind === 'time') ? [...flags, timeZoneFlag] : flags
}
