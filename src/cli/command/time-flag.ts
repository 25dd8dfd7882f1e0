import type { FieldFlag, Flag } from './flag.ts'

/** The time zone in which a command understands days. Every command that takes a time has it. */
export const timeZoneFlag: Flag = {
  name: 'timezone',
  kind: 'text',
  placeholder: 'zone',
  summary: 'Time zone for days and durations, such as Europe/Berlin (default UTC)',
}

/** The flags for the main time of a list: `event` is what happened then, as in `Created`. */
export function periodFlags(event: string) {
  return {
    since: { kind: 'time', summary: `${event} since this day or time, or within a duration such as 30d` },
    until: {
      kind: 'time',
      summary: `${event} before this day or time, or longer ago than a duration such as 30d`,
    },
  } as const satisfies Record<string, FieldFlag<'time'>>
}

/** The flag of a list whose items can change. */
export const updatedSinceFlag = periodFlags('Updated').since

/** Flags, and the one that says in which time zone their times are, where there are any. */
export function withTimeZone(flags: readonly Flag[]): readonly Flag[] {
  return flags.some(({ kind }) => kind === 'time') ? [...flags, timeZoneFlag] : flags
}
