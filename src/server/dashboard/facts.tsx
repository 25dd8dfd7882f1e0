import type { Child } from 'hono/jsx'

/** What is known of one thing: a word and a value each, in their order. */
export function Facts({ facts }: { facts: readonly (readonly [word: string, value: Child])[] }) {
  return (
    <dl class="facts">
      {facts.map(([word, fact]) => (
        <>
          <dt>{word}</dt>
          <dd>{fact}</dd>
        </>
      ))}
    </dl>
  )
}
