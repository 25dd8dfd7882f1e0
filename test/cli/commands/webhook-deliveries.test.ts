import { expect, onTestFinished } from 'vitest'
import { openTestAcademy } from '../../helpers/academy.ts'
import { type RunOptions, test, testCli, transportTo } from '../../helpers/cli.ts'
import { connect } from '../../helpers/lms.ts'
import { sample } from '../../lms/samples.ts'

const name = 'moodle_local_webhooks.user_graded.composed'

test('an unmatched delivery is listed, shown, and applied by a replay once it is mapped', async () => {
  await using academy = await openTestAcademy()
  const admin = await academy.person('admin')
  const moodle = await connect(academy, admin, 'moodle')
  for (const timecreated of [1751365200, 1751365201]) await moodle.deliver(sample(name, { timecreated }))
  const cli = testCli({
    transport: transportTo(academy),
    env: { LEARNCTL_URL: 'https://school.example', LEARNCTL_API_KEY: admin.key },
  })
  onTestFinished(cli.remove)
  const run = (line: string, options?: RunOptions) => cli.run(line, options)

  const listed = await run(
    'webhooks deliveries list --kind moodle --status unmatched --columns status,reason',
  )
  expect(listed.stdout).toBe('unmatched\tnot_found\nunmatched\tnot_found\n')
  const [id = ''] = (await run('webhooks deliveries list -q')).stdout.split('\n')
  // A narrow terminal shows the outcome and the reason.
  const narrow = await cli.run('webhooks deliveries list --limit 1 --color never', { tty: 80 })
  expect(narrow.stdout.split('\n').map((line) => line.split(/\s{2,}/))).toEqual([
    ['status', 'event', 'reason', 'id'],
    ['unmatched', '\\core\\event\\user_graded', 'not_found', id],
    [''],
  ])
  expect((await run(`webhooks deliveries get ${id} -o json`)).stdout).toContain('finalgrade')
  expect((await run(`webhooks deliveries get ${id}`)).stderr).toBe(
    `note: Map it with \`learnctl integrations map moodle course 4 <course here>\` and \`learnctl integrations map moodle user 15 <user here>\`, then run \`learnctl webhooks deliveries replay ${id}\`\n`,
  )

  expect(await run(`webhooks deliveries replay ${id}`)).toMatchObject({
    code: 8,
    stderr: `Delivery ${id} is unmatched (missing course and learner)\n`,
  })
  const unmatched = await run('webhooks deliveries list --status unmatched -q')
  const waiting = await run('webhooks deliveries replay --ids -', { stdin: unmatched.stdout })
  expect(waiting.code).toBe(8)
  expect(waiting.stderr.match(/is unmatched/g)).toHaveLength(2)

  const { id: courseId } = (await admin.post('/v1/courses', { title: 'Logic' })).body
  const { id: userId } = (await admin.post('/v1/users', { email: 'ada@b.example' })).body
  await moodle.map('course', '4', courseId)
  await moodle.map('user', '15', userId)
  expect(await run(`webhooks deliveries replay ${id}`)).toMatchObject({ code: 8 })
  expect((await run(`webhooks deliveries get ${id}`)).stderr).toContain('note: Enrol the learner with')
  await admin.post('/v1/enrollments', { courseId, userId })
  expect(await run(`webhooks deliveries replay ${id}`)).toMatchObject({
    code: 0,
    stderr: `Delivery ${id} is applied\n`,
  })
  expect((await run(`webhooks deliveries get ${id}`)).stderr).toBe('')
  // The other delivery is older.
  const rest = await run('webhooks deliveries list --status unmatched -q')
  expect(await run(`webhooks deliveries replay ${rest.stdout.trim()} --columns status`)).toMatchObject({
    code: 0,
    stdout: 'stale\n',
  })
})
