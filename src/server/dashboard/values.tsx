import type { Child } from 'hono/jsx'
import { escapeHiddenInDocument, lineOf } from '../../codec/display-text.ts'
import type { ProgressStep } from '../../contract/progress.ts'
import { Card } from '../../report/elements.tsx'

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
const minute = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const whole = new Intl.NumberFormat('en-GB')

export const statusWords: Readonly<Record<ProgressStep['status'], string>> = {
  not_started: 'Not started',
  in_progress: 'In progress',
  completed: 'Completed',
}

export const none = <span class="none">–</span>

/** Foreign text in one line; a dash for null. */
export function lineOrNone(text: string | null, maxLength: number): Child {
  return text === null ? none : lineOf(text, maxLength)
}

export function codeOrNone(text: string | null, maxLength: number): Child {
  return text === null ? none : <code>{lineOf(text, maxLength)}</code>
}

/** The look is that of the word, unless another is given. */
export function stateTag(word: string, look = word): Child {
  return <span class={`state ${look}`.trimEnd()}>{word}</span>
}

interface Based {
  readonly base: string
}

type Place =
  | 'courses'
  | 'learners'
  | 'grades'
  | 'deliveries'
  | 'endpoints'
  | 'messages'
  | 'changes'
  | 'audit'
  | 'integrations'

export function recordUrl({ base }: Based, place: Place, id: string): string {
  return `${base}/dashboard/${place}/${encodeURIComponent(id)}`
}

export function recordLink(signedIn: Based, place: Place, id: string, words: Child): Child {
  return <a href={recordUrl(signedIn, place, id)}>{words}</a>
}

/** `name` is for screen readers. */
export function takeLink({ base }: Based, path: `/dashboard${string}`, word: string, name: string): Child {
  return (
    <a class="take" href={base + path}>
      {word}
      <span class="unseen"> {name}</span>
    </a>
  )
}

/** With the minute in its tooltip; a dash for null. */
export function Day({ time }: { time: string | null }) {
  if (time === null) return none
  const date = new Date(time)
  return (
    <time datetime={time} title={`${minute.format(date)} UTC`}>
      {day.format(date)}
    </time>
  )
}

/** In UTC. */
export function Minute({ time }: { time: string }) {
  return <time datetime={time}>{minute.format(new Date(time))} UTC</time>
}

/** Without spaces, such as an e-mail address or an action: a narrow column breaks it after its signs, not within a word. */
export function Name({ text, maxLength = 254 }: { text: string; maxLength?: number }) {
  const parts = lineOf(text, maxLength).split(/(?<=[@._])/)
  return (
    <>
      {parts.map((part, index) => (
        <>
          {index === 0 ? null : <wbr />}
          {part}
        </>
      ))}
    </>
  )
}

export function formatCount(count: number): string {
  return whole.format(count)
}

/** `3 courses`, `1 course` */
export function countOf(count: number, one: string, several = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : several}`
}

/** To one decimal; 99.97 is 99.9%, as in the terminal, because it is not complete. A dash for null. */
export function formatPercent(value: number | null): string {
  if (value === null) return '–'
  return `${value < 100 ? Math.min(Math.round(value * 10) / 10, 99.9) : value}%`
}

/** Foreign JSON, indented; other text as it is. */
export function document(text: string): Child {
  return (
    <pre class="code" tabindex={0}>
      {escapeHiddenInDocument(indented(text))}
    </pre>
  )
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}

export type ListedFacts = readonly (readonly [word: string, value: Child])[]

export function factList(facts: ListedFacts): Child {
  return (
    <dl class="facts">
      {facts.map(([word, fact]) =>
        fact === null || fact === undefined || fact === false ? null : (
          <>
            <dt>{word}</dt>
            <dd>{fact}</dd>
          </>
        ),
      )}
    </dl>
  )
}

export function detailsCard(facts: ListedFacts, below?: Child): Child {
  return (
    <Card id="facts" title="Details">
      {factList(facts)}
      {below}
    </Card>
  )
}
