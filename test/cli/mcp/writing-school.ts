import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestCli } from '../../helpers/cli.ts'
import { testWithFilled } from '../../helpers/filled-academy.ts'
import { freshDirectory } from '../../helpers/fresh-directory.ts'
import { McpProcess } from '../../helpers/mcp-client.ts'
import { allRows, start } from '../../helpers/new-academy.ts'

/** What the academy has, before `later`. */
const records = {
  learnctl: 1,
  terms: [
    { externalId: '2026A', name: 'Autumn 2026' },
    { externalId: '1999A', name: 'Old term' },
  ],
  users: [
    { externalId: 'A', email: 'ada@school.example', profile: { firstName: 'Ada' } },
    { externalId: 'B', email: 'bob@school.example' },
    { externalId: 'C', email: 'cy@school.example' },
    { externalId: 'D', email: 'dan@school.example' },
    { externalId: 'E', email: 'eve@school.example', status: 'suspended' },
  ],
  courses: [
    {
      externalId: 'sea',
      title: 'Sea',
      status: 'published',
      modules: [{ title: 'Basics' }, { title: 'More' }],
      lessons: [
        { externalId: 'T', title: 'Tides' },
        { externalId: 'W', title: 'Waves' },
        { externalId: 'F', title: 'Foam' },
      ],
    },
    { externalId: 'pond', title: 'Pond' },
    { externalId: 'hill', title: 'Hill', status: 'published' },
    { externalId: 'gone', title: 'Gone' },
  ],
  groups: [
    { externalId: '5b', name: 'Class 5b' },
    { externalId: '5x', name: 'Class 5x' },
  ],
  enrollments: [
    { courseId: 'sea', userId: 'A' },
    { courseId: 'pond', userId: 'A' },
  ],
  grades: [{ courseId: 'sea', learnerId: 'A', itemId: 'exam', scoreGiven: 16, scoreMaximum: 20 }],
}

/** Commands that follow: deletions, members of groups, and second versions. */
const later = [
  'courses delete ext:gone --yes',
  'lessons delete ext:F --yes',
  'lessons update ext:W --title "High waves"',
  'users delete ext:D --yes',
  'enrollments delete --course ext:pond --user ext:A --yes',
  'groups members add 5b ext:C',
  'groups delete 5x --yes',
  'courses update ext:pond --language en',
]

/** Files in the folder that is shared. */
export const files: Readonly<Record<string, string>> = {
  'users.csv': 'email,externalId,role\nfay@school.example,F,learner\n',
  'courses.csv': 'externalId,title\nlake,Lake\n',
  'lessons.csv': 'courseId,externalId,title\next:sea,L9,Currents\n',
  'terms.csv': 'externalId,name\n2027S,Spring 2027\n',
  'groups.csv': 'externalId,name\n7c,Class 7c\n',
  'members.csv': 'groupId,userId\n5b,ext:B\n',
  'enrollments.csv': 'courseId,userId\next:sea,ext:C\n',
  'progress.csv':
    'courseId,learnerId,completionPercentage,lastAccessed\next:sea,ext:A,80,2026-02-02T00:00:00Z\n',
  'grades.csv': 'courseId,learnerId,item,scoreGiven,scoreMaximum\next:sea,ext:A,quiz,8,10\n',
  'academy.yaml': 'learnctl: 1\nterms: [{externalId: 2028A, name: Autumn 2028}]\n',
  'course.yaml': 'externalId: bay\ntitle: The bay\nlessons: [{externalId: S, title: Sand}]\n',
  'roster/users.csv':
    'user_id,login_id,first_name,last_name,email,status\nR1,R1,Rosa,Lind,rosa@school.example,active\n',
}

async function fill(cli: TestCli): Promise<void> {
  writeFileSync(join(cli.cwd, 'records.json'), JSON.stringify(records))
  for (const line of ['apply records.json --yes', ...later]) {
    const { code, stderr } = await cli.run(line)
    if (code !== 0) throw new Error(`${line}: ${stderr}`)
  }
}

/** A school whose folder `shared` has files. */
export interface School {
  readonly cli: TestCli
  /** Rows that it had before the test. */
  readonly rows: string
  /** Its rows now. */
  readonly rowsNow: () => string
  /** Path of a file in the folder that is shared. */
  readonly shared: (name: string) => string
  /** Runs `learnctl mcp`, which ends with the test. */
  readonly serve: (...flags: string[]) => McpProcess
  readonly time: { ms: number }
}

/** A vitest test with a copy of the school. */
export const test = testWithFilled(fill, true)
  .extend('rows', { scope: 'file' }, async ({ filled }) => {
    const { path, remove } = freshDirectory()
    writeFileSync(join(path, 'academy.db'), filled)
    const rows = allRows(join(path, 'academy.db'))
    remove()
    return rows
  })
  .extend('time', async () => ({ ms: Date.parse(start) + 60_000 }))
  .extend('options', async ({ time }) => ({
    // Each record gets its own time.
    now: () => {
      time.ms += 1
      return time.ms
    },
  }))
  .extend('school', async ({ local: cli, time, rows }, { onCleanup }): Promise<School> => {
    const shared = (name: string) => join(cli.cwd, 'shared', name)
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(shared(name)), { recursive: true })
      writeFileSync(shared(name), text)
    }
    const open: McpProcess[] = []
    onCleanup(async () => {
      await Promise.all(open.map((mcp) => mcp.end()))
    })
    const serve = (...flags: string[]) => {
      const mcp = new McpProcess(cli, flags)
      open.push(mcp)
      return mcp
    }
    const rowsNow = () => allRows(join(cli.cwd, 'academy.db'))
    return { cli, rows, rowsNow, shared, serve, time }
  })
