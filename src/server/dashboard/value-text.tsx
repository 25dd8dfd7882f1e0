import { visible } from '../../codec/hidden-characters.ts'
import type { ProgressStep } from '../../contract/progress.ts'

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const minute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const second = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: 'UTC' })
const whole = new Intl.NumberFormat('en-GB')

/** A progress status in words. */
export const statusWords: Readonly<Record<ProgressStep['status'], string>> = {
  not_started: 'Not started',
  in_progress: 'In progress',
  completed: 'Completed',
}

/** The day of a time, with the minute in its tooltip; a dash where there is none. */
export function Day({ time }: { time: string | null }) {
  if (time === null) return <span class="none">–</span>
  const date = new Date(time)
  return (
    <time datetime={time} title={`${minute.format(date)} UTC`}>
      {day.format(date)}
    </time>
  )
}

/** A time to the minute, in UTC. */
export function Minute({ time }: { time: string }) {
  return <time datetime={time}>{minute.format(new Date(time))} UTC</time>
}

/** A period to the second, in UTC: `1 Mar 2026, 12:00:01–12:00:09 UTC`; the day again where it ends on another. */
export function Period({ start, end }: { start: string; end: string }) {
  const [first, last] = [second.format(new Date(start)), second.format(new Date(end))]
  if (first === last) return <time datetime={start}>{first} UTC</time>
  const isOneDay = start.slice(0, 10) === end.slice(0, 10)
  return (
    <>
      <time datetime={start}>{first}</time>–
      <time datetime={end}>{isOneDay ? last.slice(last.lastIndexOf(' ') + 1) : last} UTC</time>
    </>
  )
}

/** A number with its thousands apart. */
export function counted(count: number): string {
  return whole.format(count)
}

/** `3 courses`, `1 course`. */
export function many(count: number, one: string, several = `${one}s`): string {
  return `${counted(count)} ${count === 1 ? one : several}`
}

/** A percentage to one decimal, as in the terminal: 99.97 is not all. A dash where there is none. */
export function percent(value: number | null): string {
  if (value === null) return '–'
  return `${value < 100 ? Math.min(Math.round(value * 10) / 10, 99.9) : value}%`
}

/** What others wrote, on one line: what is not seen is shown, as `\\n` or `\\u202e`, and what is longer is cut. */
export function shown(text: string, most = 200): string {
  const characters = [...text.slice(0, 2 * most + 2)]
  return visible(characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text)
}
