import { type Argument, type Command, checkArgument, type Given, noColumns } from '../command/command.ts'
import type { Context } from '../command/context.ts'
import { checkChoices, type Flag, waitLockFlag } from '../command/flag.ts'

const parts = ['courses', 'enrollments', 'grades'] as const

const flags = [
  {
    name: 'course',
    kind: 'texts',
    placeholder: 'course',
    summary: 'Only this course, by external id or title',
  },
  {
    name: 'only',
    kind: 'words',
    placeholder: 'parts',
    summary: 'Only these parts, such as courses,enrollments; courses are always included',
    choices: parts,
  },
  waitLockFlag,
] as const satisfies readonly Flag[]

const kindArgument: Argument = {
  name: 'kind',
  summary: 'Kind of the other system: classroom',
  choices: ['classroom'],
}

export const pushCommand: Command = {
  name: 'push',
  summary: 'Write courses, people and grades to Google Classroom',
  writes: ['elsewhere', 'machine'],
  prints: ['PushedRoster'],
  exits: ['partial', 'drift'],
  confirms: true,
  description:
    'Compares the academy with Google Classroom, shows a plan and asks. Courses are created once, under an alias of their external\nid; people are added, or invited if they cannot be; graded items become course work, and grades are set and returned. Nothing is\ndeleted in Classroom. At the end both sides are read and counted again: exit 8 if records were refused, 9 if some differ all the\nsame. After an interruption the same command continues.',
  arguments: [kindArgument],
  flags,
  refuses: noColumns,
  examples: [
    'roster push classroom --dry-run',
    'roster push classroom --course ext:AAA-2014J --only courses,enrollments --yes',
  ],
  interruption: 'continues',
  run: runPush,
}

async function runPush(context: Context, { flags: given, arguments: { kind } }: Given): Promise<void> {
  checkArgument(kindArgument, kind)
  checkChoices(flags, given)
  const { pushRoster } = await import('../roster/push-roster.ts')
  const textsIn = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  const only = textsIn(given['only'])
  await pushRoster(context, {
    courses: textsIn(given['course']),
    parts: new Set(only.length > 0 ? only : parts),
    waitLock: given[waitLockFlag.name],
  })
}
