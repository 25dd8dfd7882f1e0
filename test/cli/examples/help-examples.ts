import { showsSchema } from '../../../src/cli/command/command.ts'
import { inProcesses } from '../../helpers/examples.ts'
import { allCommands } from '../../helpers/host.ts'

/** A shell line and the command that it calls. */
type Example = readonly [line: string, command: string]

const commands = await allCommands()

export const helpExamples: readonly Example[] = commands.flatMap(([path, { examples = [] }]) =>
  examples.map((line) => [line, path] as const),
)

/** Commands that print JSON. */
export const printing = commands.flatMap(([path, command]) => (showsSchema(command) ? [path] : []))

/** Further lines to compare with the schema of their command, for results that no example prints as JSON. */
const otherResults: readonly Example[] = [
  ['courses list --deleted', 'courses list'],
  ['courses get ext:first-course --with-lessons', 'courses get'],
  ['courses update AAA-2013J AAA-2014J --language en', 'courses update'],
  ['courses diff -f marine-biology.yaml', 'courses diff'],
  ['users import users.csv --dry-run', 'users import'],
  ['apply academy.yaml --dry-run', 'apply'],
  ['roster apply school.zip --yes', 'roster apply'],
  ['integrations set moodle --generate-secret', 'integrations set'],
  ['dump', 'dump'],
  ['lessons get ext:welcome', 'lessons get'],
  ['lessons export --course ext:first-course', 'lessons export'],
  ['progress export --course ext:AAA-2014J', 'progress export'],
  ...['courses', 'users', 'terms', 'groups', 'enrollments', 'grades', 'audit'].map(
    (noun) => [`${noun} export`, `${noun} export`] as const,
  ),
  ['audit revert "$(learnctl audit list --noun course --limit 1 -q)" --dry-run', 'audit revert'],
]

/** All lines that tests run. */
export const exampleLines: readonly Example[] = [...new Map([...helpExamples, ...otherResults])]

/** Options with which a line prints no JSON, or not all of it. */
const otherOutput =
  / -q\b(?!\))| -o (?!json\b)| --(all-columns|columns|file|to-sheet|print|folder|schema|man)\b|^help (?!--json)/

/** Commands whose output is not compared, with the reason. */
export const notCompared: Readonly<Record<string, string>> = {
  'server start': 'runs in a process of its own',
  'webhooks listen': 'runs in a process of its own',
  'webhooks endpoints test': 'needs a receiver',
}

/** Lines to compare with the schema of their command: those with -o json, and the first that can have it. */
export const comparedLines: ReadonlySet<string> = new Set([
  ...otherResults.map(([line]) => line),
  ...printing.flatMap((path) => {
    if (path in notCompared) return []
    const able = exampleLines.filter(
      ([line, command]) => command === path && !otherOutput.test(line) && !inProcesses.test(line),
    )
    return able.filter(([line], index) => index === 0 || / -o json\b/.test(line)).map(([line]) => line)
  }),
])
