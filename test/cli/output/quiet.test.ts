import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../helpers/cli.ts'
import { allCommands } from '../../helpers/host.ts'

/** Commands that change something and refuse `-q`: they speak to another program, or show a secret once. */
const refusing = ['quickstart', 'server start', 'server exec', 'webhooks listen', 'mcp']

test('-q is accepted by every command that makes or changes something', async () => {
  const commands = await allCommands()
  const refused = []
  for (const [path, { calls, writes, refuses }] of commands) {
    const changes = writes ? writes.length > 0 : (await calls?.operation())?.method !== 'GET'
    if (changes && refuses?.quiet) refused.push(path)
  }
  expect(refused.sort()).toEqual([...refusing].sort())
})

describe('-q prints the ids of what was made or changed, and nothing else:', () => {
  const users = 'externalId,email,firstName\nA,a@x.example,A\nB,b@x.example,B\n'
  const quiet = { code: 0, stdout: '', stderr: '' }

  test('of the rows of an import, not of those that were as they are', async ({ local }) => {
    const made = await local.run('users import - -q', { stdin: users })
    expect(made).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: (await local.run('users list --role learner --sort createdAt -q')).stdout,
    })
    expect(made.stdout).toMatch(/^usr_\w+\nusr_\w+\n$/)
    expect(await local.run('users import - -q', { stdin: users })).toEqual(quiet)
    const [, second] = made.stdout.split('\n')
    const changed = await local.run('users import - -q -o json', { stdin: users.replace(',B\n', ',Bo\n') })
    expect(changed).toEqual({ ...quiet, stdout: `${second}\n` })
  })

  test('of an apply and its undo, which removes them', { tags: ['slow'] }, async ({ local }) => {
    const path = join(local.cwd, 'a.yaml')
    writeFileSync(
      path,
      'learnctl: 1\nusers: [{externalId: A, email: a@x.example}]\ncourses: [{externalId: C, title: C}]\n' +
        'enrollments: [{courseId: C, userId: A}]\nprogress: [{courseId: C, learnerId: A, completionPercentage: 5}]\n',
    )
    const ids = (await local.run('apply a.yaml --yes -q')).stdout
    const [user, course, enrolment] = [
      (await local.run('users get ext:A -q')).stdout,
      (await local.run('courses get ext:C -q')).stdout,
      (await local.run('enrollments list -q')).stdout,
    ]
    // Each once, though a course is published after its enrolments, and progress has no id.
    expect(ids.split('\n').sort()).toEqual([user, course, enrolment, ''].map((id) => id.trim()).sort())
    expect(await local.run('apply a.yaml --yes -q')).toEqual(quiet)
    expect((await local.run('undo last --yes -q -o json')).stdout).toBe('')
  })

  test('of what an undo brings back', async ({ local }) => {
    await local.run('users import - -q', { stdin: users })
    await local.run('users delete ext:A ext:B --yes')
    const { stdout } = await local.run('undo last --yes -q')
    expect(stdout.split('\n').sort()).toEqual(
      (await local.run('users list --role learner -q')).stdout.split('\n').sort(),
    )
  })

  test('none where the record has no id', async ({ local }) => {
    await local.run('users import - -q', { stdin: users })
    await local.run('courses create --title C --external-id C --status published')
    expect(await local.run('progress set ext:A --course ext:C --completion 40 -q')).toEqual(quiet)
    expect(await local.run('settings update --instructor-access all -q')).toEqual(quiet)
    expect(await local.run('users delete ext:A --yes -q')).toEqual(quiet)
    expect(await local.run('analytics pseudonym-key --file key -q')).toEqual(quiet)
  })

  test('of the response to any request', async ({ local }) => {
    const made = await local.run('api POST /v1/courses --field title=C -q')
    expect(made.stdout).toMatch(/^crs_\w+\n$/)
    expect((await local.run('api GET /v1/courses -q')).stdout).toBe(made.stdout)
  })

  test('while a dry run still shows what would happen', async ({ local }) => {
    const { code, stdout } = await local.run('users import - --dry-run -q', { stdin: users })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '2\tA\tcreate\t\t\n3\tB\tcreate\t\t\n' })
  })
})
