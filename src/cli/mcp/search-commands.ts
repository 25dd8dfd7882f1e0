import type { OfferedCommand } from './command-table.ts'
import { offeredFlagsOf } from './command-table.ts'

const maxFound = 10
const maxWords = 12

interface FoundCommand {
  readonly command: string
  readonly summary: string
  readonly writes: boolean
}

/** Finds commands by words, the best first. Each word counts once, most in the command itself. */
export function searchCommands(words: string, commands: readonly OfferedCommand[]): FoundCommand[] {
  const stems = stemsIn(words).slice(0, maxWords)
  return commands
    .map((offered) => ({ offered, score: scoreOf(offered, stems) }))
    .filter(({ score }) => score > 0)
    .toSorted((one, other) => other.score - one.score)
    .slice(0, maxFound)
    .map(({ offered: { path, command, offer } }) => ({
      command: path,
      summary: command.summary,
      writes: offer.access === 'write',
    }))
}

function scoreOf(offered: OfferedCommand, stems: readonly string[]): number {
  const { path, command } = offered
  const places = [
    { weight: 8, stems: stemsIn(path) },
    { weight: 4, stems: stemsIn(command.summary) },
    { weight: 2, stems: stemsIn([...offeredFlagsOf(offered)].join(' ')) },
    { weight: 1, stems: stemsIn(command.description ?? '') },
  ]
  const scores = stems.map((stem) => {
    const found = places.filter(({ stems }) => stems.some((each) => each.startsWith(stem)))
    return found.reduce((sum, { weight }) => sum + weight, 0)
  })
  const sum = scores.reduce((sum, score) => sum + score, 0)
  // A shorter command matches a larger part of its words.
  return sum === 0 ? 0 : sum - path.split(' ').length / 100
}

/** Words of users for the words of commands. */
const synonyms: Readonly<Record<string, string>> = {
  class: 'group',
  cohort: 'group',
  student: 'user',
  pupil: 'user',
  teacher: 'user',
  person: 'user',
  show: 'get',
  find: 'list',
  add: 'create',
  enrol: 'enroll',
  enrolment: 'enrollment',
  remove: 'delete',
  mark: 'grade',
  score: 'grade',
  change: 'update',
  unit: 'lesson',
  csv: 'import',
  average: 'summary',
  mean: 'summary',
}

/** In lower case, without the ending of a plural. */
function stemsIn(text: string): string[] {
  const words = text.toLowerCase().match(/[a-z]+/g) ?? []
  return [...new Set(words.map((word) => stemOf(word)).filter((word) => !fillers.has(word)))]
}

function stemOf(word: string): string {
  const single = word.length > 3 ? word.replace(/s$/, '') : word
  return synonyms[single] ?? single
}

const fillers: ReadonlySet<string> = new Set([
  'a',
  'the',
  'of',
  'in',
  'to',
  'for',
  'and',
  'with',
  'all',
  'how',
  'me',
])
