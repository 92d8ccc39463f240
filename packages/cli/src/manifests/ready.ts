/** Manifests that come with the program. Their tools are those of common MCP servers. */
interface Ready {
  readonly category: string;
  readonly manifest: {
    readonly connector: string;
    readonly version: string;
    readonly description: string;
    readonly tools: Readonly<Record<string, string | object>>;
  };
}

export const READY: readonly Ready[] = [
  {
    category: 'files',
    manifest: {
      connector: 'filesystem',
      version: '1.0.0',
      description: 'Files of a machine',
      tools: {
        ...{
          read_file: 'read',
          read_text_file: 'read',
          read_media_file: 'read',
          read_multiple_files: 'read',
        },
        ...{
          list_directory: 'read',
          list_directory_with_sizes: 'read',
          directory_tree: 'read',
          search_files: 'read',
        },
        ...{ get_file_info: 'read', list_allowed_directories: 'read', create_directory: 'write' },
        ...{ write_file: 'delete', edit_file: 'write', move_file: 'delete' },
      },
    },
  },
  {
    category: 'code',
    manifest: {
      connector: 'github',
      version: '1.0.0',
      description: 'Repositories, issues and pull requests',
      tools: {
        ...{
          get_file_contents: 'read',
          list_commits: 'read',
          list_branches: 'read',
          search_code: 'read',
          search_issues: 'read',
        },
        ...{
          search_repositories: 'read',
          list_pull_requests: 'read',
          list_issues: 'read',
          create_issue: 'write',
        },
        ...{
          add_issue_comment: 'write',
          create_pull_request: 'write',
          create_branch: 'write',
          create_or_update_file: 'write',
        },
        ...{
          push_files: 'write',
          create_repository: 'write',
          fork_repository: 'write',
          delete_file: 'delete',
        },
        merge_pull_request: { permission: 'write', requires_decision: true },
      },
    },
  },
  {
    category: 'chat',
    manifest: {
      connector: 'slack',
      version: '1.0.0',
      description: 'Channels and messages',
      tools: {
        ...{
          slack_list_channels: 'read',
          slack_get_channel_history: 'read',
          slack_get_thread_replies: 'read',
        },
        ...{ slack_get_users: 'read', slack_get_user_profile: 'read' },
        ...{ slack_post_message: 'write', slack_reply_to_thread: 'write', slack_add_reaction: 'write' },
      },
    },
  },
  {
    category: 'data',
    manifest: {
      connector: 'postgres',
      version: '1.0.0',
      description: 'Reads of a database',
      tools: { query: 'read' },
    },
  },
];
