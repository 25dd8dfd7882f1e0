import { shellWord } from '../../codec/shell-word.ts'

/** A thing of another system that has no mapping yet: what it is, and its key there. */
export type Unmapped = readonly [noun: string, key: string]

/** How things of another system are made known: the commands, with a place for what they are here. */
export function mappingSteps(kind: string, unmapped: readonly Unmapped[]): string {
  if (unmapped.length === 0) return `map it with \`learnctl integrations map ${kind}\``
  const commands = unmapped.map(
    ([noun, key]) => `\`learnctl integrations map ${kind} ${noun} ${shellWord(key)} <${noun} here>\``,
  )
  return `map it with ${commands.join(' and ')}`
}

/** Steps before a delivery is processed again, as a sentence. */
export function thenReplay(steps: string, deliveryId: string | null): string {
  const sentence = steps.replace(/^./, (first) => first.toUpperCase())
  return `${sentence}, then run \`learnctl webhooks deliveries replay ${deliveryId ?? '--unmatched'}\``
}

/** How a learner that is known is made one of the course. */
export const enrolStep = 'enrol the learner with `learnctl enrollments create`'
