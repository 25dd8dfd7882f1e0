import type { Noun } from '../command/command.ts'

/** All nouns in the order of help; their commands are loaded on use. A new noun is one entry here. */
export const nouns: Readonly<Record<string, Noun>> = {
  quickstart: {
    group: 'Start here',
    summary: 'Create a local academy with real learner data to explore',
    load: async ({ runLine }) => (await import('../commands/quickstart.ts')).quickstartCommand(runLine),
  },
  courses: {
    group: 'Academy',
    summary: 'Manage courses and their versions',
    load: async () => (await import('../commands/courses.ts')).commands,
  },
  modules: {
    group: 'Academy',
    summary: 'Manage the modules of a course',
    load: async () => (await import('../commands/modules.ts')).commands,
  },
  lessons: {
    group: 'Academy',
    summary: 'Manage the lessons of a course',
    load: async () => (await import('../commands/lessons.ts')).commands,
  },
  users: {
    group: 'Academy',
    summary: 'Manage users and their roles',
    load: async () => (await import('../commands/users.ts')).commands,
  },
  terms: {
    group: 'Academy',
    summary: 'Manage the terms that courses belong to',
    load: async () => (await import('../commands/terms.ts')).commands,
  },
  enrollments: {
    group: 'Academy',
    summary: 'Manage course enrolments',
    load: async () => (await import('../commands/enrollments.ts')).commands,
  },
  groups: {
    group: 'Academy',
    summary: 'Manage groups of users, such as classes and cohorts',
    groups: { members: 'Manage the members of a group' },
    load: async () => (await import('../commands/groups.ts')).commands,
  },
  progress: {
    group: 'Academy',
    summary: 'View and record learner progress',
    load: async () => (await import('../commands/progress.ts')).commands,
  },
  grades: {
    group: 'Academy',
    summary: 'Manage the grades of learners',
    load: async () => (await import('../commands/grades.ts')).commands,
  },
  analytics: {
    group: 'Academy',
    summary: 'Export learner data and summarise completion',
    load: async () => (await import('../commands/analytics.ts')).commands,
  },
  report: {
    group: 'Academy',
    summary: 'Write a report of completion, activity and grades as an HTML page',
    load: async () => (await import('../commands/report.ts')).command,
  },
  validate: {
    group: 'Academy',
    summary: 'Check academy files for problems, offline',
    load: async () => (await import('../commands/academy-files.ts')).validateCommand,
  },
  diff: {
    group: 'Academy',
    summary: 'Compare academy files with an academy',
    load: async () => (await import('../commands/academy-files.ts')).diffCommand,
  },
  apply: {
    group: 'Academy',
    summary: 'Make an academy match academy files',
    load: async () => (await import('../commands/academy-files.ts')).applyCommand,
  },
  dump: {
    group: 'Academy',
    summary: 'Write an academy to academy files',
    load: async () => (await import('../commands/academy-files.ts')).dumpCommand,
  },
  roster: {
    group: 'Academy',
    summary: 'Exchange rosters with other systems: OneRoster, Canvas, Moodle',
    load: async () => (await import('../commands/roster.ts')).commands,
  },
  undo: {
    group: 'Academy',
    summary: 'Undo imports, applies and other changes of many records',
    load: async () => (await import('../commands/undo.ts')).commands,
  },
  auth: {
    group: 'Access',
    summary: 'Sign in and out, and show the credential in use',
    groups: { grants: 'Manage the applications that may act on your behalf' },
    load: async () => (await import('../commands/auth.ts')).commands,
  },
  profiles: {
    group: 'Access',
    summary: 'Switch between platforms and academies',
    load: async () => (await import('../commands/profiles.ts')).commands,
  },
  calendars: {
    group: 'Access',
    summary: 'Manage calendars of courses and users',
    load: async () => (await import('../commands/calendars.ts')).commands,
  },
  keys: {
    group: 'Access',
    summary: 'Manage API keys',
    load: async () => (await import('../commands/keys.ts')).commands,
  },
  apps: {
    group: 'Access',
    summary: 'Register OAuth applications that act on behalf of users',
    load: async () => (await import('../commands/apps.ts')).commands,
  },
  integrations: {
    group: 'Access',
    summary: 'Connect other learning management systems',
    load: async () => (await import('../commands/integrations.ts')).commands,
  },
  webhooks: {
    group: 'Access',
    summary: 'Manage webhooks, sent and received',
    groups: {
      endpoints: 'Manage where events are sent',
      messages: 'Follow events to where they are sent',
      deliveries: 'See what other systems sent, and process it again',
    },
    load: async () => (await import('../commands/webhooks.ts')).commands,
  },
  settings: {
    group: 'Access',
    summary: 'Manage the settings of the academy',
    load: async () => (await import('../commands/settings.ts')).commands,
  },
  audit: {
    group: 'Access',
    summary: 'See who did what, and verify the log',
    load: async () => (await import('../commands/audit.ts')).commands,
  },
  open: {
    group: 'Tools',
    summary: 'Open the dashboard in the browser',
    load: async () => (await import('../commands/open.ts')).command,
  },
  server: {
    group: 'Tools',
    summary: 'Serve an academy over HTTP',
    groups: { snapshot: 'Save a local academy, and restore it in milliseconds' },
    load: async ({ runLine }) => (await import('../commands/server.ts')).serverCommands(runLine),
  },
  doctor: {
    group: 'Tools',
    summary: 'Check your setup for problems',
    load: async () => (await import('../commands/doctor.ts')).command,
  },
  api: {
    group: 'Tools',
    summary: 'Send any request to the API',
    load: async () => (await import('../commands/api.ts')).command,
  },
  mcp: {
    group: 'Tools',
    summary: 'Serve the commands to an AI assistant (MCP)',
    load: async (host) => (await import('../commands/mcp.ts')).mcpCommand(host),
  },
  completion: {
    group: 'Tools',
    summary: 'Print a shell completion script',
    load: async () => (await import('../commands/completion.ts')).command,
  },
  help: {
    group: 'Tools',
    summary: 'Show help for a command or topic',
    load: async (host) => (await import('../commands/help.ts')).helpCommand(host),
  },
}
