import { expect, test } from 'vitest'
import type { Transport } from '../../src/contract/http.ts'
import { openTestAcademy, type TestAcademy } from '../helpers/academy.ts'
import { type Ran, testCli, transportTo } from '../helpers/cli.ts'

/** A proxy that drops the header with which an academy confirms strict handling. */
function dropping(transport: Transport): Transport {
  return async (request) => {
    const reply = await transport(request)
    const { 'preference-applied': _, ...headers } = reply.headers
    return { ...reply, headers }
  }
}

type Line = readonly [line: string, stdin?: string]

const users = 'email,externalId,firstName,role\nada@b.example,A,Ada,learner\nbob@b.example,B,Bob,learner\n'
const courses = 'externalId,title,difficulty\nsea,Oceans,beginner\nsky,Sky,advanced\n'
const lessons = 'courseId,externalId,title\next:sea,T,Tides\next:sea,W,Waves\n'
const enrolments = 'courseId,userId,status\next:sea,ext:A,active\next:sea,email:bob@b.example,active\n'
const progress =
  'courseId,learnerId,completionPercentage,lastAccessed\next:sea,ext:A,40,2026-02-01T00:00:00Z\next:sea,ext:B,80,2026-02-02T00:00:00Z\n'
const grades = 'courseId,learnerId,item,scoreGiven,scoreMaximum\next:sea,ext:A,exam,16,20\n'
const academy = `learnctl: 1
courses:
  - {externalId: sea, title: The sea, lessons: [{externalId: T, title: Tides}, {externalId: W, title: Big waves}]}
  - {externalId: bay, title: Bay}
users: [{email: ada@b.example, externalId: A, role: learner}]
enrollments: [{courseId: bay, userId: A}]
`
const courseFile = 'externalId: bay\ntitle: The bay\nlessons: [{externalId: S, title: Sand}]\n'

/** Commands of a session, in order. */
const chapters: Record<string, readonly Line[]> = {
  create: [
    ['courses create --title Sea --external-id sea --tags a,b --passing-score 60'],
    ['courses create --title Sea --external-id sea'],
    ['courses create --title Sea --external-id sea --if-not-exists'],
    ['courses create --title Sea --external-id sea --upsert --language en'],
    ['courses create --title Sand -o json'],
  ],
  'get and list': [
    ['courses get ext:sea'],
    ['courses get ext:sea -o json'],
    ['courses get ext:none'],
    ['courses list'],
    ['courses list --sort -title --limit 1'],
    ['courses list --external-id sea -o json'],
    ['courses list --external-id none -q'],
    ['courses list --search sea --columns title,status'],
    ['courses list --since 2026-01-01 --until 2026-12-31 -o csv'],
  ],
  update: [
    ['courses update ext:sea --title "The sea" --if-version 1'],
    ['courses update ext:sea --title "The sea" --if-version 2'],
    ['courses update ext:sea ext:none --description Wide'],
    ['courses publish ext:sea'],
  ],
  import: [
    ['users import -', users],
    ['users import - --dry-run', users],
    ['users import - --on-exists fail', users],
    ['courses import - --dry-run', courses],
    ['courses import -', courses],
    ['courses import - --on-exists skip', courses],
    ['lessons import -', lessons],
    ['lessons import -', lessons.replace('Waves', 'Big waves')],
    ['enrollments import -', enrolments],
    ['enrollments import - --dry-run', enrolments],
    ['progress import -', progress],
    ['grades import -', grades],
    ['courses import -', 'externalId,title,passingScore\nsea,Sea,170\n'],
  ],
  'records of learners': [
    ['users list --role learner --sort email'],
    ['users get email:ada@b.example'],
    ['enrollments list --course ext:sea'],
    ['progress set ext:A --course ext:sea --completion 50'],
    ['progress set email:bob@b.example --course ext:sea --completion 100 -o json'],
    ['progress get ext:A --course ext:sea'],
    ['grades set --learner ext:A --course ext:sea --item exam --score 18'],
    ['grades list --learner ext:A --course ext:sea'],
  ],
  apply: [
    ['diff -', academy],
    ['apply - --yes', academy],
    ['apply - --yes', academy],
    ['courses apply -f - --dry-run', courseFile],
    ['courses apply -f - --yes', courseFile],
    ['courses apply -f - --yes', courseFile],
    ['courses get ext:bay --with-lessons -o yaml'],
    ['courses copy ext:bay --title Copy'],
  ],
  export: [
    ['courses export'],
    ['users export -o jsonl'],
    ['enrollments export'],
    ['grades export'],
    ['lessons export --course ext:sea'],
    ['analytics export'],
    ['analytics export --course ext:sea --learner ext:A -o jsonl'],
    ['analytics summary'],
    ['dump'],
  ],
  delete: [
    ['lessons delete ext:S --yes'],
    ['courses delete ext:sea --yes'],
    ['courses delete ext:sea --force --yes'],
    ['users delete ext:B ext:none --yes'],
    ['courses list'],
  ],
}

/** Returns the output of all runs, with ids numbered in the order of appearance. */
async function session(academy: TestAcademy, transport: Transport): Promise<(Ran & { line: string })[]> {
  const { key } = await academy.person('admin')
  const cli = testCli({ transport, env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: key } })
  const ids = new Map<string, string>()
  const plain = (text: string) =>
    text.replaceAll(/\b([a-z]{3})_[A-Za-z0-9]{8,}\b/g, (id, kind) => {
      const known = ids.get(id) ?? `${kind}_${ids.size}`
      ids.set(id, known)
      return known
    })
  const runs = []
  try {
    for (const [line, stdin] of Object.values(chapters).flat()) {
      const { code, stdout, stderr } = await cli.run(line, stdin === undefined ? {} : { stdin })
      runs.push({ line, code, stdout: plain(stdout), stderr: plain(stderr) })
    }
  } finally {
    cli.remove()
  }
  return runs
}

test('an academy of ours behind a proxy that drops Preference-Applied is used as without the proxy', {
  tags: ['slow'],
}, async () => {
  await using direct = await openTestAcademy()
  await using proxied = await openTestAcademy()
  const expected = await session(direct, transportTo(direct))
  const runs = await session(proxied, dropping(transportTo(proxied)))
  for (const [index, run] of runs.entries()) expect.soft(run).toEqual(expected[index])
})
