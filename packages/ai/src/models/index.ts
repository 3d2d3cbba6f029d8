// The providers whose models come with the program: their order, names, credentials and default models.

/** What is known of a provider without reading its models. */
export interface ProviderFacts {
  /** For people. */
  name: string;
  /** Environment variables that carry a key, in the order they are tried. */
  env: readonly string[];
  /** Variables whose value is sent as `Authorization: Bearer`, tried before `env`. */
  bearerEnv?: readonly string[];
  /** Sets of variables that together stand for credentials without any key. */
  ambientEnv?: readonly (readonly string[])[];
  /** Further variables that hold secrets, or say where they are. */
  secretEnv?: readonly string[];
  /** Variables the base URL needs besides the key, as `{NAME}` in it. */
  urlEnv?: readonly string[];
  /** The id of the model to start with when nothing was chosen. */
  defaultModel: string;
  /** Needs no credentials, and is never chosen or listed unless somebody asks for it by name. */
  keyless?: boolean;
}

/**
 * The order is the one in which a provider is looked for when nothing was chosen: makers of models, then subscriptions
 * and regional plans, then clouds and gateways. Variables as the providers' documentation names them.
 */
export const providers: Readonly<Record<string, ProviderFacts>> = {
  anthropic: {
    name: "Anthropic",
    env: ["ANTHROPIC_API_KEY"],
    bearerEnv: ["ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN"],
    defaultModel: "claude-opus-5-5",
  },
  openai: { name: "OpenAI", env: ["OPENAI_API_KEY"], defaultModel: "gpt-6.2-sol" },
  google: { name: "Google Gemini", env: ["GEMINI_API_KEY"], defaultModel: "gemini-4-carbon" },
  xai: { name: "xAI", env: ["XAI_API_KEY"], defaultModel: "grok-4.7" },
  deepseek: { name: "DeepSeek", env: ["DEEPSEEK_API_KEY"], defaultModel: "deepseek-v4-pro" },
  mistral: { name: "Mistral", env: ["MISTRAL_API_KEY"], defaultModel: "mistral-large-latest" },
  meta: { name: "Meta", env: ["META_API_KEY"], defaultModel: "muse-spark-1.3" },
  moonshotai: { name: "Moonshot AI", env: ["MOONSHOT_API_KEY"], defaultModel: "kimi-k3.1-pro" },
  "moonshotai-cn": { name: "Moonshot AI (China)", env: ["MOONSHOT_API_KEY"], defaultModel: "kimi-k3.1-pro" },
  minimax: { name: "MiniMax", env: ["MINIMAX_API_KEY"], defaultModel: "MiniMax-M3" },
  xiaomi: { name: "Xiaomi MiMo", env: ["XIAOMI_API_KEY"], defaultModel: "mimo-v2.6-pro" },
  "ant-ling": { name: "Ant Ling", env: ["ANT_LING_API_KEY"], defaultModel: "Ring-2.6-1T" },
  "kimi-coding": { name: "Kimi For Coding", env: ["KIMI_API_KEY"], defaultModel: "k3.1-pro" },
  zai: { name: "ZAI Coding Plan (Global)", env: ["ZAI_API_KEY"], defaultModel: "glm-5.3" },
  "zai-coding-cn": { name: "ZAI Coding Plan (China)", env: ["ZAI_CODING_CN_API_KEY"], defaultModel: "glm-5.3" },
  "qwen-token-plan": {
    name: "Qwen Token Plan Team",
    env: ["QWEN_TOKEN_PLAN_TEAM_API_KEY"],
    defaultModel: "qwen3.8-max",
  },
  "qwen-token-plan-cn": {
    name: "Qwen Token Plan Team (China)",
    env: ["QWEN_TOKEN_PLAN_TEAM_CN_API_KEY"],
    defaultModel: "qwen3.8-max",
  },
  "qwen-token-plan-individual": {
    name: "Qwen Token Plan Individual",
    env: ["QWEN_TOKEN_PLAN_INDIVIDUAL_API_KEY"],
    defaultModel: "qwen3.8-max",
  },
  "qwen-token-plan-individual-cn": {
    name: "Qwen Token Plan Individual (China)",
    env: ["QWEN_TOKEN_PLAN_INDIVIDUAL_CN_API_KEY"],
    defaultModel: "qwen3.8-max",
  },
  "xiaomi-token-plan-cn": {
    name: "Xiaomi MiMo Token Plan (China)",
    env: ["XIAOMI_TOKEN_PLAN_CN_API_KEY"],
    defaultModel: "mimo-v2.6-pro",
  },
  "xiaomi-token-plan-ams": {
    name: "Xiaomi MiMo Token Plan (Amsterdam)",
    env: ["XIAOMI_TOKEN_PLAN_AMS_API_KEY"],
    defaultModel: "mimo-v2.6-pro",
  },
  "xiaomi-token-plan-sgp": {
    name: "Xiaomi MiMo Token Plan (Singapore)",
    env: ["XIAOMI_TOKEN_PLAN_SGP_API_KEY"],
    defaultModel: "mimo-v2.6-pro",
  },
  groq: { name: "Groq", env: ["GROQ_API_KEY"], defaultModel: "openai/gpt-oss-120b" },
  cerebras: { name: "Cerebras", env: ["CEREBRAS_API_KEY"], defaultModel: "qwen-3.8-27b" },
  fireworks: {
    name: "Fireworks",
    env: ["FIREWORKS_API_KEY"],
    defaultModel: "accounts/fireworks/models/kimi-k3p1-pro",
  },
  together: { name: "Together AI", env: ["TOGETHER_API_KEY"], defaultModel: "moonshotai/Kimi-K3.1-Pro" },
  baseten: { name: "Baseten", env: ["BASETEN_API_KEY"], defaultModel: "moonshotai/Kimi-K3.1-Pro" },
  nvidia: { name: "NVIDIA NIM", env: ["NVIDIA_API_KEY"], defaultModel: "nvidia/nemotron-3-ultra-550b-a55b" },
  openrouter: { name: "OpenRouter", env: ["OPENROUTER_API_KEY"], defaultModel: "anthropic/claude-opus-5.5" },
  "vercel-ai-gateway": {
    name: "Vercel AI Gateway",
    env: ["AI_GATEWAY_API_KEY"],
    defaultModel: "anthropic/claude-opus-5.5",
  },
  opencode: { name: "OpenCode Zen", env: ["OPENCODE_API_KEY"], defaultModel: "claude-opus-5-5" },
  "opencode-go": { name: "OpenCode Go", env: ["OPENCODE_API_KEY"], defaultModel: "kimi-k3.1-pro" },
  "cloudflare-ai-gateway": {
    name: "Cloudflare AI Gateway",
    env: ["CLOUDFLARE_API_KEY"],
    urlEnv: ["CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID"],
    defaultModel: "claude-opus-5-5",
  },
  "cloudflare-workers-ai": {
    name: "Cloudflare Workers AI",
    env: ["CLOUDFLARE_API_KEY"],
    urlEnv: ["CLOUDFLARE_ACCOUNT_ID"],
    defaultModel: "@cf/zai-org/glm-5.3",
  },
  azure: { name: "Azure OpenAI", env: ["AZURE_OPENAI_API_KEY"], defaultModel: "gpt-6.2-sol" },
  "amazon-bedrock": {
    name: "Amazon Bedrock",
    env: ["AWS_BEARER_TOKEN_BEDROCK"],
    ambientEnv: [["AWS_PROFILE"], ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]],
    // Those of containers are no credentials here, since requests are not signed with what they lead to.
    secretEnv: [
      "AWS_SESSION_TOKEN",
      "AWS_SHARED_CREDENTIALS_FILE",
      "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
      "AWS_CONTAINER_CREDENTIALS_FULL_URI",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN",
      "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
      "AWS_WEB_IDENTITY_TOKEN_FILE",
    ],
    defaultModel: "global.anthropic.claude-opus-5-5",
  },
  "google-vertex": {
    name: "Google Vertex AI",
    env: ["GOOGLE_CLOUD_API_KEY"],
    ambientEnv: [
      ["GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
      ["GCLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    ],
    secretEnv: ["GOOGLE_APPLICATION_CREDENTIALS"],
    defaultModel: "gemini-4-carbon",
  },
  demo: { name: "Demo", env: [], keyless: true, defaultModel: "demo" },
};
