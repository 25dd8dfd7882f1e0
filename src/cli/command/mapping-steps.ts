import { shellWord } from '../../codec/shell-word.ts'

/** An external record without a mapping: its noun and its key in the other system. */
export type Unmapped = readonly [noun: string, key: string]

/** Returns the commands that map external records, with placeholders for the local ones. */
export function mappingSteps(kind: string, unmapped: readonly Unmapped[]): string {
  if (unmapped.length === 0) return `map it with \`learnctl integrations map ${kind}\``
  const commands = unmapped.map(
    ([noun, key]) => `\`learnctl integrations map ${kind} ${noun} ${shellWord(key)} <${noun} here>\``,
  )
  return `map it with ${commands.join(' and ')}`
}

/** Returns the steps before a delivery is replayed, as a sentence. */
export function thenReplay(steps: string, deliveryId: string | null): string {
  const sentence = steps.replace(/^./, (first) => first.toUpperCase())
  return `${sentence}, then run \`learnctl webhooks deliveries replay ${deliveryId ?? '--unmatched'}\``
}

/** Step that enrols a known learner in the course. */
export const enrolStep = 'enrol the learner with `learnctl enrollments create`'
