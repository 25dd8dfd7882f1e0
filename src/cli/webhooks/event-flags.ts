import { randomUUID } from 'node:crypto'
import { shellWord } from '../../codec/display-text.ts'
import type { LmsKind } from '../../contract/constants.ts'
import { kinds } from '../../lms/kinds.ts'
import type {
  SimulatedEvent,
  SimulatedFact,
  SimulatedFacts,
  SimulatedName,
} from '../../lms/simulated-event.ts'
import type { FlagValues } from '../command/flag.ts'
import { UsageError } from '../terminal/errors.ts'

const flagOf: Readonly<Record<SimulatedFact, string>> = {
  item: 'item',
  label: 'label',
  score: 'score',
  maximum: 'maximum',
  percentage: 'completion',
  published: 'unpublished',
}

/** Throws a UsageError on a fact that the real system's event does not contain. */
export function factsOf(
  kind: LmsKind,
  name: string,
  event: SimulatedEvent,
  flags: FlagValues,
  now: number,
): Omit<SimulatedFacts, 'account'> {
  const { title } = kinds[kind]
  for (const [fact, flag] of Object.entries(flagOf)) {
    if (flags[flag] === undefined || event.takes.some((each) => each === fact)) continue
    throw new UsageError(`--${flag} is not supported: ${name} of ${title} does not have it`)
  }
  const missing = ['user', 'course'].filter((name) => (flags[name] ?? '') === '').map((name) => `--${name}`)
  if (missing.length > 0) {
    throw new UsageError(`${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required`)
  }
  const maximum = readNumber(flags, 'maximum', 0.0001, 1_000_000) ?? 100
  const score = readNumber(flags, 'score', 0, 1_000_000) ?? Math.floor(maximum * 0.8)
  return {
    user: readName(String(flags['user'] ?? ''), 'user', event.namesUser, kind, name),
    course: readName(String(flags['course'] ?? ''), 'course', event.namesCourse, kind, name),
    item: readText(flags, 'item'),
    label: readText(flags, 'label'),
    score,
    maximum,
    percentage: readNumber(flags, 'completion', 0, 100) ?? 50,
    published: flags['unpublished'] !== true,
    at: new Date(readText(flags, 'at') ?? now),
    serial: randomUUID(),
  }
}

function readName(
  text: string,
  flag: 'user' | 'course',
  taken: SimulatedEvent['namesUser'],
  kind: LmsKind,
  event: string,
): SimulatedName {
  const name = nameIn(text)
  if (name.value !== '' && taken.includes(name.by)) return name
  const words = {
    id: `the id of the ${flag === 'user' ? 'learner' : 'course'} in ${kinds[kind].title}`,
    externalId: 'ext:<external id>',
    email: 'an e-mail address',
  }
  const valid = taken.map((by) => words[by]).join(' or ')
  throw new UsageError(`--${flag} must be ${valid} for ${event}, not ${JSON.stringify(text)}`, {
    ...(!taken.includes('externalId') && {
      hint: `Use that id, and map it: learnctl integrations map ${kind} ${flag} <id> ${shellWord(text)}`,
    }),
  })
}

function nameIn(text: string): SimulatedName {
  const [, form, value = ''] = /^(ext|email):(.*)$/s.exec(text) ?? []
  if (form !== undefined) return { by: form === 'ext' ? 'externalId' : 'email', value }
  return { by: text.includes('@') ? 'email' : 'id', value: text }
}

function readText(flags: FlagValues, name: string): string | undefined {
  const value = flags[name]
  return typeof value === 'string' ? value : undefined
}

function readNumber(flags: FlagValues, name: string, least: number, most: number): number | undefined {
  const value = flags[name]
  if (value === undefined) return undefined
  if (typeof value === 'number' && value >= least && value <= most) return value
  throw new UsageError(`--${name} must be from ${least} to ${most}, not ${value}`)
}
